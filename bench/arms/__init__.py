"""Arms of other vendors by their public URDFs, and what one rehearsed recording of each gives."""
