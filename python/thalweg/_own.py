"""Laws of one's own: the classes among the values of parameters, their checks, and the texts that determine them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from . import _thalweg

WINDOW = ("on_ack", "on_loss", "on_recovered", "on_timeout")
REPAIR = ("on_report",)
#: The initial state of the flow that a class is tried with before anything runs.
TRIAL: dict[str, dict[str, Any]] = {
    "window": {"flow": 0, "group": "", "iw": 10, "ssthresh": float("inf"), "playback_bps": None},
    "repair": {"flow": 0, "group": "", "k": 32.0, "most": 200, "rate_bps": 8e6, "packet_bytes": 1500, "syn": 0.01},
}

Law = tuple[str, type, bool]


def laws_of(values: Iterable[Any]) -> list[Law]:
    """The classes among values, as laws: name, class, and True for a window."""
    classes = dict.fromkeys(value for value in values if isinstance(value, type))
    return [(law.__name__, law, _is_window(law)) for law in classes]


def _is_window(law: type) -> bool:
    """True for a window, False for repair. Raises TypeError for a class that is neither, or lacks a part."""
    kind = "repair" if hasattr(law, "on_report") else "window"
    missing = [name for name in (REPAIR if kind == "repair" else WINDOW) if not callable(getattr(law, name, None))]
    if not missing:
        trial = law.__new__(law)
        trial.rng, trial.context, trial.probes = _thalweg.Rng(1), dict(TRIAL[kind]), {}
        trial.__init__()
        values = ("repair",) if kind == "repair" else ("cwnd", "ssthresh")
        missing = [name for name in values if not hasattr(trial, name)]
    if missing:
        raise TypeError(f"{law.__name__} is no law of {'repair' if kind == 'repair' else 'a window'}: no {', no '.join(missing)}")
    return kind == "window"


def versions(laws: list[Law]) -> dict[str, str]:
    """All that determines what laws do, by name: their `version`, or the source of the class and of what it names in its
    module.

    Raises ValueError for a class without either.
    """
    return {name: _version(law) for name, law, _ in laws}


def _version(law: type) -> str:
    stated = getattr(law, "version", None)
    if isinstance(stated, str):
        return stated
    texts: dict[str, str] = {}
    _add_class(law, texts)
    return "".join(f"{name}\n{text}\n" for name, text in sorted(texts.items()))


def _add_class(law: type, texts: dict[str, str]) -> None:
    """Adds a class, its bases in its module, and what its functions name."""
    key = f"{law.__module__}.{law.__qualname__}"
    if key in texts:
        return
    texts[key] = repr(sorted((name, repr(value)) for name, value in vars(law).items() if _is_constant(value)))
    for base in law.__bases__:
        if base.__module__ == law.__module__:
            _add_class(base, texts)
    for value in vars(law).values():
        for function in _functions(value):
            _add_function(function, texts)


def _functions(value: Any) -> list[Any]:
    found = [value.fget, value.fset] if isinstance(value, property) else [getattr(value, "__func__", value)]
    return [function for function in found if inspect.isfunction(function)]


def _add_function(function: Any, texts: dict[str, str]) -> None:
    """Adds the source of a function, and of the functions, classes and constants of its module that it names."""
    key = f"{function.__module__}.{function.__qualname__}"
    if key in texts:
        return
    try:
        texts[key] = inspect.getsource(function)
    except (OSError, TypeError):
        why = f"the source of {key} is not known; give the class a version = \"...\" that changes with what it does"
        raise ValueError(why) from None
    for name in _names(function.__code__):
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__ == function.__module__:
            _add_function(value, texts)
        elif isinstance(value, type) and value.__module__ == function.__module__:
            _add_class(value, texts)
        elif name in function.__globals__ and _is_constant(value):
            texts[f"{function.__module__}.{name}"] = repr(value)


def _names(code: Any) -> set[str]:
    inner = [constant for constant in code.co_consts if inspect.iscode(constant)]
    return set(code.co_names).union(*map(_names, inner)) if inner else set(code.co_names)


def _is_constant(value: Any) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes))


def classes_in(over: Mapping[str, Iterable[Any]]) -> list[Any]:
    """The classes among the values of a grid."""
    return [value for values in over.values() for value in values if isinstance(value, type)]
