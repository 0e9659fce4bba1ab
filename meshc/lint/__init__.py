"""`meshc lint`: which files are meant, what is wrong with each, what of it can be mended."""
