"""What could prune a fact: a relation that bounds it, and the conditions on that relation."""
