"""The laboratory: what proves the package. Run from a clone by `python -m bench NAME`, never installed."""
