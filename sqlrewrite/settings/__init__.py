"""Options of a rewriting, and the files and variables in which a project sets them."""
