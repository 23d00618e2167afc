"""From JSON to records, by the types that their fields declare: nothing else gets in."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

Reader = Callable[[Any], Any]

#: What JSON cannot hold as a number stands there as a word.
WORDS = ("inf", "-inf", "nan")

#: No counter and no size is larger: they have 64 bits, and Python's own numbers have no end.
LARGEST = 2**128


def read(kind: type[T], value: object) -> T:
    """Return the record that a value of JSON says. Raises TypeError, ValueError, KeyError."""
    record: T = _reader(kind)(value)  # type: ignore[arg-type]  # to mypy, no type[T] is hashable
    return record


@cache
def _reader(hint: Hashable) -> Reader:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (types.UnionType, Union):
        return _any_of([_reader(one) for one in inner])
    if origin is tuple:
        return _many(_reader(inner[0]))
    if origin is Mapping:
        return _table(_key if inner[0] is int else _text, _reader(inner[1]))
    if hint is float:
        return _number
    if hint is str:
        return _text
    assert isinstance(hint, type)
    return _record(hint) if is_dataclass(hint) else _exactly(hint)


def _wrong(expected: str, value: object) -> TypeError:
    return TypeError(f"expected {expected}, got {type(value).__name__}")


def _exactly(kind: type) -> Reader:
    def reads(value: object) -> object:
        if type(value) is not kind:  # true and false are whole numbers to Python
            raise _wrong(kind.__name__, value)
        return _possible(value) if type(value) is int else value

    return reads


def _text(value: object) -> str:
    if type(value) is not str:
        raise _wrong("str", value)
    return sys.intern(value)  # names of ports and counters come thousands of times


def _possible(value: int) -> int:
    if not -LARGEST < value < LARGEST:
        raise ValueError(f"expected a number of at most 128 bits, got one of {value.bit_length()}")
    return value


def _number(value: object) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        return _possible(value)
    if isinstance(value, str) and value in WORDS:
        return float(value)
    raise _wrong("number", value)


def _key(value: str) -> int:
    return int(value)


def _any_of(readers: list[Reader]) -> Reader:
    def reads(value: object) -> object:
        for reader in readers:
            try:
                return reader(value)
            except TypeError as error:
                last = error
        raise last

    return reads


def _many(item: Reader) -> Reader:
    def reads(value: object) -> tuple[object, ...]:
        if type(value) is not list:
            raise _wrong("list", value)
        return tuple(map(item, value))

    return reads


def _table(key: Reader, item: Reader) -> Reader:
    def reads(value: object) -> dict[object, object]:
        if type(value) is not dict:
            raise _wrong("object", value)
        return {key(name): item(inner) for name, inner in value.items()}

    return reads


def _record(kind: type) -> Reader:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}
    optional = {
        field.name
        for field in fields(kind)
        if field.default is not MISSING or field.default_factory is not MISSING
    }

    def reads(value: object) -> object:
        if type(value) is not dict:
            raise _wrong("object", value)
        return kind(
            **{
                name: reader(value[name])
                for name, reader in readers.items()
                if name in value or name not in optional
            }
        )

    return reads
