"""Files and projects: finding them, running a job for each, and caching the results."""
