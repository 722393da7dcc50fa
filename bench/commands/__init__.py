"""Commands of the laboratory, one module each."""
