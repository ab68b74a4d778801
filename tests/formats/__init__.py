"""Rewritten statements on real Delta and Iceberg tables; ``.ci/formats`` runs them."""
