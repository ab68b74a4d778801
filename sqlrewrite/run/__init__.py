"""Files and projects: which are read, by how many processes, and what is cached."""
