"""A TOML file as data, with errors that name the file."""

from __future__ import annotations

import os
from typing import Any

from sqlrewrite.results import ConfigError


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says. Raises ConfigError where it cannot be read or is not TOML."""
    import tomllib  # not at each start

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}") from error
