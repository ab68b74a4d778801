"""A language server: findings as one types, fixes, what prunes a scan, over the same documents.

``protocol`` alone speaks to the editor; ``analysis`` reads a text again after a keystroke, and of
it only what has changed.
"""
