"""Laws of one's own: the classes among the values of parameters, their checks, and the texts that determine them."""

from __future__ import annotations

import contextlib
import dis
import functools
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
    module and in the functions around it.

    Raises ValueError for a class without either.
    """
    return {name: _version(law) for name, law, _ in laws}


def _version(law: type) -> str:
    stated = getattr(law, "version", None)
    if isinstance(stated, str):
        return stated
    texts: dict[str, str] = {}
    _add(law.__qualname__, law, law.__module__, texts)
    return "".join(f"{name}\n{text}\n" for name, text in sorted(texts.items()))


def _add(key: str, value: Any, module: str, texts: dict[str, str]) -> None:
    """Adds a value that a law names: a constant, or the source of a function or a class of its module."""
    value = inspect.unwrap(getattr(value, "__func__", value))
    if isinstance(value, (property, functools.cached_property)):
        for accessor in ("fget", "fset", "func"):
            if function := getattr(value, accessor, None):
                _add(f"{key}.{accessor}", function, module, texts)
    elif inspect.isfunction(value) or isinstance(value, type):
        if value.__module__ == module:
            (_add_class if isinstance(value, type) else _add_function)(value, texts)
    elif (constant := _constant(value)) is not None:
        texts[f"{module}.{key}"] = constant
    elif not (inspect.ismodule(value) or inspect.isdatadescriptor(value) or _is_foreign(value, module)):
        raise ValueError(_unknown(f"the value of {key}"))


def _unknown(of: str) -> str:
    return f'{of} is not known; give the class a version = "..." that changes with what it does'


def _is_foreign(value: Any, module: str) -> bool:
    """True for what can be called and comes from another module, such as `math.ceil` or a function of numpy."""
    return inspect.isroutine(value) or (callable(value) and type(value).__module__ != module)


def _add_class(law: type, texts: dict[str, str]) -> None:
    """Adds what a class consists of, and its bases in its module."""
    key = f"{law.__module__}.{law.__qualname__}"
    if key in texts:
        return
    texts[key] = ", ".join(f"{base.__module__}.{base.__qualname__}" for base in law.__bases__)
    for base in law.__bases__:
        _add(base.__qualname__, base, law.__module__, texts)
    for name, value in vars(law).items():
        # The names of Python itself are methods, or say where the class is; `_abc_impl` is a cache of `abc`.
        if inspect.isroutine(value) or not (name.startswith("__") and name.endswith("__") or name == "_abc_impl"):
            _add(f"{law.__qualname__}.{name}", value, law.__module__, texts)


def _add_function(function: Any, texts: dict[str, str]) -> None:
    """Adds the source of a function, and what it names."""
    key = f"{function.__module__}.{function.__qualname__}"
    if key in texts:
        return
    try:
        texts[key] = inspect.getsource(function)
    except (OSError, TypeError):
        raise ValueError(_unknown(f"the source of {key}")) from None
    defaults = enumerate([*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()])
    named = {f"{function.__qualname__}.{number}": value for number, value in defaults}
    named |= {name: function.__globals__[name] for name in _names(function.__code__) & function.__globals__.keys()}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        # A variable that has no value yet cannot have been used.
        with contextlib.suppress(ValueError):
            named[f"{function.__qualname__}.{name}"] = cell.cell_contents
    for name, value in named.items():
        _add(name, value, function.__module__, texts)


def _names(code: Any) -> set[str]:
    """The global names that code reads, and that of the functions in it."""
    own = {it.argval for it in dis.get_instructions(code) if it.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return own.union(*(_names(inner) for inner in code.co_consts if inspect.iscode(inner)))


def _constant(value: Any) -> str | None:
    """The text of a constant; None for any other value."""
    if isinstance(value, dict):
        items = [_constant(item) for pair in value.items() for item in pair]
    elif isinstance(value, (set, frozenset)):
        items = sorted(_constant(item) or "" for item in value)
    elif isinstance(value, (tuple, list)):
        items = [_constant(item) for item in value]
    else:
        is_constant = value is None or isinstance(value, (bool, int, float, complex, str, bytes))
        return repr(value) if is_constant else None
    texts = [item for item in items if item]
    return f"{type(value).__name__}({', '.join(texts)})" if len(texts) == len(items) else None


def classes_in(over: Mapping[str, Iterable[Any]]) -> list[Any]:
    """The classes among the values of a grid."""
    return [value for values in over.values() for value in values if isinstance(value, type)]
