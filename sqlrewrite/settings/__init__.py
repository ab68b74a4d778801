"""How to rewrite: options, and where a project says them."""
