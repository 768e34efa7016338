"""Values of parameters and constants, as the command line takes them."""

from __future__ import annotations

from typing import Union

#: A value of a parameter of a scenario, or of a constant of a law.
Value = Union[str, int, float, bool]


def text(value: Value | type) -> str:
    """A value as `--set` takes it; a class, which is a law of one's own, is its name."""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise TypeError(f"a value is text, a number, true or false, not {value!r}")
