"""Identification by this package and by what others do, on the same recordings."""
