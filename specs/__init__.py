"""The standard layers and strategies, models, slices and the quickstart, as data of the package."""
