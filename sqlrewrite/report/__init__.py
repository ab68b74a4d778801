"""Results as text for people and as JSON for machines. Only this and cli/ know rich."""
