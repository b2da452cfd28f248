"""The compact protocol of Thrift, in which Parquet writes its footer and the headers of its pages."""

from typing import Any

import pyarrow as pa

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def read_struct(content: bytes, at: int) -> tuple[dict[int, Any], int]:
    """The fields of a struct by number, and where it ends.

    Raises
    ------
    pyarrow.ArrowInvalid
        A field is there twice: Arrow takes the last one of the type that it expects, which may be another than here.
    IndexError, RecursionError
        The content ends before the struct, or is none.
    """
    fields: dict[int, Any] = {}
    number = 0
    while header := content[at]:
        at += 1
        if header >> 4:
            number += header >> 4
        else:
            number, at = _whole(content, at)
        if number in fields:
            raise pa.ArrowInvalid(f"field {number} is there twice in a struct")
        fields[number], at = _value(content, at, header & 15)
    return fields, at + 1


def _value(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return content[at], at + 1
    if kind == _DOUBLE:
        return content[at + 7] * 0.0, at + 8  # nobody asks for its value, but it must be there
    if kind == _BINARY:
        length, at = _unsigned(content, at)
        return content[at : at + length], at + length
    if kind in (_LIST, _SET):
        return _list(content, at)
    if kind == _MAP:
        return None, _after_map(content, at)
    return read_struct(content, at) if kind == _STRUCT else _whole(content, at)


def _list(content: bytes, at: int) -> tuple[list[Any], int]:
    length, kind = content[at] >> 4, content[at] & 15
    at += 1
    if length == 15:
        length, at = _unsigned(content, at)
    values = []
    for _ in range(length):
        value, at = _element(content, at, kind)
        values.append(value)
    return values, at


def _element(content: bytes, at: int, kind: int) -> tuple[Any, int]:
    # A truth value of a list is a byte of its own.
    return (content[at], at + 1) if kind in (_TRUE, _FALSE) else _value(content, at, kind)


def _after_map(content: bytes, at: int) -> int:
    """Where a map ends; no field of Parquet is one."""
    length, at = _unsigned(content, at)
    if length:
        kinds, at = content[at], at + 1
        for _ in range(length):
            for kind in (kinds >> 4, kinds & 15):
                at = _element(content, at, kind)[1]
    return at


def _unsigned(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while (byte := content[at]) >= 128:
        number |= (byte & 127) << shift
        shift += 7
        at += 1
    return number | byte << shift, at + 1


def _whole(content: bytes, at: int) -> tuple[int, int]:
    number, at = _unsigned(content, at)
    return number >> 1 ^ -(number & 1), at
