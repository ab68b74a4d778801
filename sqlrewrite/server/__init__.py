"""A language server: findings while one types, their fixes, and what prunes a scan.

``protocol`` alone speaks to the editor; the other modules are the same without it.
"""
