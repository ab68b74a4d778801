"""A language server: findings while the user types, their fixes, and what prunes a scan.

``protocol`` alone talks to the editor; the other modules do not depend on it.
"""
