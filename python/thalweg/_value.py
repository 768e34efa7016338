"""Values of parameters and constants, as the command line takes them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Union

#: A value of a parameter of a scenario, or of a constant of a law.
Value = Union[str, int, float, bool]


def text(value: Value | type) -> str:
    """A value as `--set` takes it; a class, which is a law of one's own, is its name."""
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, bool):
        return "true" if value else "false"
    # Also numbers of numpy.
    if isinstance(value, (str, Real)):
        return str(value)
    raise TypeError(f"a value is text, a number, true or false, not {value!r}")


def texts(name: str, values: Iterable[Value | type]) -> list[str]:
    """The values of a parameter that is varied."""
    if isinstance(values, str):
        raise ValueError(f"{name} is varied over a list of values, not over {values!r}")
    return [text(value) for value in values]
