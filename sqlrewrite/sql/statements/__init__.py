"""Questions about a text or a single statement that need no catalog and no plan."""
