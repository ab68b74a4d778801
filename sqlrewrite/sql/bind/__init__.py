"""Trees to plans: names resolved against the catalog, what is not understood made unknown."""
