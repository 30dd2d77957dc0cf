"""The parser of sparse text lines, ``1,4 0:0.5 7:1e-3``, compiled; imported on use only."""

from __future__ import annotations

import numpy as np

from longtail.kernels import kernel

OK, NOT_A_NUMBER, NEGATIVE, COLUMN_TOO_LARGE, NOT_FINITE, NO_COLON, LABEL_TOO_LARGE = range(7)

_NEWLINE, _RETURN, _TAB, _SPACE = 10, 13, 9, 32
_PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE, _COLON = 43, 44, 45, 46, 48, 57, 58
_UPPER_E, _LOWER_E = 69, 101
_MOST_DIGITS = 18
_ROUNDS_TO_INFINITY = 3.4028235677973366e38
_POWERS = np.array([float(f"1e{power}") for power in range(309)])


@kernel
def _is_end(byte: int) -> bool:
    return byte in (_SPACE, _NEWLINE, _TAB, _RETURN)


@kernel
def _whole_number(text: np.ndarray, at: int, limit: int) -> tuple[int, int, int]:
    """The number that starts at ``at``, below ``limit``; (value, where it ends, error)."""
    if text[at] == _MINUS:
        return 0, at, NEGATIVE
    start, value = at, 0
    while _ZERO <= text[at] <= _NINE:
        value = value * 10 + (text[at] - _ZERO)
        if value >= limit:
            return value, at, COLUMN_TOO_LARGE
        at += 1
    return value, at, NOT_A_NUMBER if at == start else OK


@kernel
def _real_number(text: np.ndarray, at: int) -> tuple[float, int, int]:
    """The decimal number that starts at ``at``; (value, where it ends, error)."""
    negative = text[at] == _MINUS
    if negative or text[at] == _PLUS:
        at += 1
    if text[at] == 110 or text[at] == 78 or text[at] == 105 or text[at] == 73:
        # n(an) or i(nf), in either case
        return 0.0, at, NOT_FINITE
    mantissa, digits, exponent, any_digit, after_point = 0, 0, 0, False, False
    while True:
        byte = text[at]
        if _ZERO <= byte <= _NINE:
            any_digit = True
            if digits < _MOST_DIGITS:
                mantissa = mantissa * 10 + (byte - _ZERO)
                if mantissa > 0:
                    digits += 1
                if after_point:
                    exponent -= 1
            elif not after_point:
                exponent += 1
        elif byte == _POINT and not after_point:
            after_point = True
        else:
            break
        at += 1
    if not any_digit:
        return 0.0, at, NOT_A_NUMBER
    if text[at] == _LOWER_E or text[at] == _UPPER_E:
        at += 1
        down = text[at] == _MINUS
        if down or text[at] == _PLUS:
            at += 1
        start, power = at, 0
        while _ZERO <= text[at] <= _NINE:
            power = min(power * 10 + (text[at] - _ZERO), 10_000)
            at += 1
        if at == start:
            return 0.0, at, NOT_A_NUMBER
        exponent += -power if down else power
    value = float(mantissa)
    if mantissa == 0 or exponent < -330:
        value = 0.0
    elif exponent < 0:
        # In two steps, as 10^-320 is no normal number.
        value = value / _POWERS[min(-exponent, 300)] / _POWERS[max(-exponent - 300, 0)]
    elif exponent > 0:
        value = np.inf if exponent > 300 else value * _POWERS[exponent]
    if not abs(value) < _ROUNDS_TO_INFINITY:
        return 0.0, at, NOT_FINITE
    return -value if negative else value, at, OK


@kernel
def parse_rows(
    text: np.ndarray,
    has_labels: bool,
    n_columns: int,
    n_labels: int,
    ends: np.ndarray,
    columns: np.ndarray,
    values: np.ndarray,
    label_ends: np.ndarray,
    labels: np.ndarray,
) -> tuple[int, int]:
    """Parse whole lines; (number of lines, error); with an error, the number is that of the line before it.

    Args:
        text: bytes [size], the last of which is a line end.
        has_labels: whether lines start with labels and a space.
        n_columns: columns must be below this.
        n_labels: labels must be below this.
        ends: int64 [lines + 1], where the entries of each line end (filled in).
        columns: int32, filled in.
        values: float32, filled in.
        label_ends: int64 [lines + 1], filled in.
        labels: int32, filled in.
    """
    at, row, entry, label = 0, 0, 0, 0
    ends[0] = 0
    label_ends[0] = 0
    while at < len(text):
        if has_labels and not _is_end(text[at]):
            look = at
            while not _is_end(text[look]) and text[look] != _COLON:
                look += 1
            # A first word with a colon is a feature: the line has no labels.
            if text[look] != _COLON:
                while True:
                    value, at, error = _whole_number(text, at, n_labels)
                    if error != OK:
                        return row, LABEL_TOO_LARGE if error == COLUMN_TOO_LARGE else error
                    labels[label] = value
                    label += 1
                    if text[at] != _COMMA:
                        break
                    at += 1
                if not _is_end(text[at]):
                    return row, NOT_A_NUMBER
        while True:
            while text[at] == _SPACE or text[at] == _TAB or text[at] == _RETURN:
                at += 1
            if text[at] == _NEWLINE:
                at += 1
                break
            column, at, error = _whole_number(text, at, n_columns)
            if error != OK:
                return row, error
            if text[at] != _COLON:
                return row, NO_COLON
            real, at, error = _real_number(text, at + 1)
            if error != OK:
                return row, error
            if not _is_end(text[at]):
                return row, NOT_A_NUMBER
            columns[entry] = column
            values[entry] = real
            entry += 1
        row += 1
        ends[row] = entry
        label_ends[row] = label
    return row, OK
