"""Libraries that some functions need, imported when these are called."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, extra: str) -> Any:
    """The imported ``module``; if it is missing, the error says what installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{module} is needed for this and not here: pip install 'warmcore[{extra}]'") from error
