"""``python -m sqlrewrite`` is ``dpp-rewrite``."""

from sqlrewrite.cli import main

if __name__ == "__main__":
    main()
