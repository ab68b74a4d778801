"""From a plan to edits: which joins could prune a fact, with what predicate, and where it goes."""
