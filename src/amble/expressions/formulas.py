"""Numbers at every rank: a formula in i, a function, a file of them, or the numbers themselves.

A formula has numbers, ``i``, ``+ - * / **`` (``^`` is read as power), parentheses, and log, log2, sqrt, exp, min, max.
Python's own parser reads it, and it is computed from the tree, on doubles: nothing is ever executed.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from amble.arrays import NDArray
from amble.errors import MeasureError, ReadError
from amble.expressions.domains import Domain
from amble.expressions.values import ByRank, FormulaOrFunction, Value
from amble.io.rows import read_rows

__all__ = ["Formula", "NumbersFile", "OverRanks"]

Array = NDArray[np.float64]
_Computed = Callable[[Array], Any]

_LONGEST = 300
_ALLOWED = re.compile(r"[0-9A-Za-z.,()+*/^ -]+", re.ASCII)
_ENDING = re.compile(r"\.[A-Za-z]\w+$")  # of the name of a file, and of no formula
_OPERATORS: dict[Any, Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide, ast.Pow: np.power,
    ast.USub: np.negative, ast.UAdd: np.positive,
}  # fmt: skip
_OF_ONE: dict[str, Callable[..., Any]] = {"log": np.log, "log2": np.log2, "sqrt": np.sqrt, "exp": np.exp}
_OF_TWO: dict[str, Callable[..., Any]] = {"min": np.minimum, "max": np.maximum}


class Formula(FormulaOrFunction):
    """A formula in the rank i, or a function of an array of ranks: numbers at ranks of any depth.

    >>> Formula("1 / (i + 1)^2"), Formula("1/(i+1)**2")(np.array([1.0, 3.0]))
    (Formula('1/(i+1)**2'), array([0.25  , 0.0625]))
    """

    form: str | Callable[[Array], Any]
    computed: _Computed

    def __init__(self, form: str | Callable[[Array], Any]) -> None:
        if callable(form):
            vars(self).update(form=form, computed=form)
            return
        try:
            if len(form) > _LONGEST or not _ALLOWED.fullmatch(form):
                raise SyntaxError
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(form.strip().replace("^", "**"), mode="eval").body
        except (SyntaxError, MemoryError, RecursionError):
            raise MeasureError(f"{form!r:.60}: expected a formula in i, as in '1/(i+1)**1.5'") from None
        vars(self).update(computed=_compiled(tree, form), form=ast.unparse(tree).replace(" ", ""))

    def __repr__(self) -> str:
        return f"Formula({str(self)!r})"

    def __call__(self, rank: Array) -> Array:
        """The numbers at the ranks."""
        with np.errstate(all="ignore"):  # what is no number there is for the caller to tell, with its rank
            return np.broadcast_to(np.asarray(self.computed(rank), np.float64), np.shape(rank))


def _compiled(node: ast.expr, text: str) -> _Computed:
    """What computes a formula from its tree; an error if there is anything in it but arithmetic."""
    match node:
        case ast.Constant(value=int() | float() as x) if not isinstance(x, bool) and x < 1e300:
            number = np.float64(x)
            return lambda i: number
        case ast.Name(id="i"):
            return lambda i: i
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            of, a, b = _OPERATORS[type(op)], _compiled(left, text), _compiled(right, text)
            return lambda i: of(a(i), b(i))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            sign, a = _OPERATORS[type(op)], _compiled(operand, text)
            return lambda i: sign(a(i))
        case ast.Call(func=ast.Name(id=name), args=[x], keywords=[]) if name in _OF_ONE:
            one, a = _OF_ONE[name], _compiled(x, text)
            return lambda i: one(a(i))
        case ast.Call(func=ast.Name(id=name), args=[x, y], keywords=[]) if name in _OF_TWO:
            two, a, b = _OF_TWO[name], _compiled(x, text), _compiled(y, text)
            return lambda i: two(a(i), b(i))
    known = ", ".join((*_OF_ONE, *_OF_TWO))
    raise MeasureError(f"{text!r}: cannot read {ast.unparse(node)!r:.40}, expected i, numbers, + - * / **, or {known}")


class NumbersFile(Value, Sequence[float]):
    """Numbers by rank that were read from a file, whose name expressions show."""

    path: str
    numbers: ByRank

    def __init__(self, path: str, numbers: ByRank) -> None:
        vars(self).update(path=path, numbers=numbers)

    def content(self) -> tuple[str, ByRank]:
        """The name of the file, and the numbers."""
        return self.path, self.numbers

    def __getitem__(self, i: Any) -> Any:
        return self.numbers[i]

    def __len__(self) -> int:
        return len(self.numbers)

    def __str__(self) -> str:
        return self.path

    @classmethod
    def read(cls, path: str, each: Domain, what: str = "number") -> NumbersFile:
        """The numbers of a domain in a file: one per line, by rank."""
        found: list[float] = []
        try:
            for where, _, (x,) in read_rows(path, (), (what,), why="one for each rank"):
                try:
                    found.append(each.check(x))
                except ValueError:
                    raise ReadError(f"{where}: {what} {x:g}, expected {each.text}") from None
        except ReadError as error:
            raise MeasureError(str(error)) from None
        return cls(path, ByRank(found))


class OverRanks(Domain):
    """Numbers at every rank: a formula in i, the numbers by rank, or a file of them; in Python also a function."""

    accepts = "str | Sequence[float] | Callable[..., Any]"
    smooth = False

    def __init__(self, each: Domain) -> None:
        self.each = each
        self.text = (
            "a formula in i, as '1/(i+1)**1.5', numbers by rank with commas between them, or the name of a file "
            f"with one per line, each {each.text}"
        )

    def check(self, value: Any) -> Formula | ByRank | NumbersFile:
        """The formula or the numbers; a file is read."""
        if isinstance(value, Formula) or callable(value):
            return value if isinstance(value, Formula) else Formula(value)
        numbers: ByRank | NumbersFile
        try:
            numbers = value if isinstance(value, NumbersFile) else ByRank(value)
        except ValueError:
            if isinstance(value, os.PathLike) or (isinstance(value, str) and _ENDING.search(value)):
                numbers = NumbersFile.read(os.fspath(value), self.each)
            elif isinstance(value, str) and value.strip():
                return Formula(value)
            else:
                raise
        for x in numbers:
            self.each.check(x)
        return numbers
