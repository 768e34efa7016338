"""Laws as objects, and logs that they are run over."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import _thalweg
from ._value import Value, text


def laws() -> dict[str, str]:
    """The names of the laws, each with a line about it."""
    return dict(_thalweg.laws())


class Law:
    """A law with its paper's constants, or others, fed event by event.

        law = tw.Law("geneva", k=25)
        law.on(lost=1, delivered=32, srtt=0.02)     # {"fwnd": ...}

    Events and values are the lines of ``thalweg replay`` (docs/controls.md names its laws), as keywords and as a dict. A number that
    is infinite is the text "inf", one that is not known yet is None. An unknown law or constant, and an event that
    is not one of the law's, raise ValueError; such an event changes nothing.
    """

    def __init__(self, name: str, /, **constants: Value) -> None:
        self.name = name
        self.constants = constants
        self.state: dict[str, Any] = {}
        self._law = _thalweg.Law(name, [(constant, text(value)) for constant, value in constants.items()])

    def on(self, **event: Any) -> dict[str, Any]:
        """Takes an event, and returns the state of the law, which is in `state`, too."""
        self.state = json.loads(self._law.answer(json.dumps(event).encode()))
        return self.state

    def __repr__(self) -> str:
        return f"<thalweg.Law {self.name}{''.join(f', {name}={value}' for name, value in self.constants.items())}>"


def replay(law: Law | str, log: Any, /) -> dict[str, list[Any]]:
    """Runs a law over a log, and returns its state after each event, as columns.

    A log is an iterable of events, each a mapping; or a table: a mapping of columns, or anything with `to_dict`, as frames of
    pandas and polars, and tables of this package. None and NaN stand for an event that does not have this key.
    """
    law = Law(law) if isinstance(law, str) else law
    states = [law.on(**{key: value for key, value in event.items() if not _is_missing(value)}) for event in _events(log)]
    names = dict.fromkeys(name for state in states for name in state)
    return {name: [state.get(name) for state in states] for name in names}


def _is_missing(value: Any) -> bool:
    # Only NaN differs from itself.
    return value is None or value != value


def _events(log: Any) -> Iterator[Mapping[str, Any]] | Iterable[Mapping[str, Any]]:
    if hasattr(log, "to_dicts"):
        return iter(log.to_dicts())
    if hasattr(log, "to_pylist"):
        return iter(log.to_pylist())
    if hasattr(log, "to_dict"):
        return _rows({name: list(column) for name, column in _columns(log)})
    return _rows(log) if isinstance(log, Mapping) else log


def _columns(log: Any) -> Iterator[tuple[str, Iterable[Any]]]:
    for name in log.columns:
        column = log[name]
        yield name, column.tolist() if hasattr(column, "tolist") else column


def _rows(columns: Mapping[str, Iterable[Any]]) -> Iterator[Mapping[str, Any]]:
    return (dict(zip(columns, values)) for values in zip(*columns.values()))
