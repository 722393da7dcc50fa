"""Evidence from machines and logs that are not ours."""
