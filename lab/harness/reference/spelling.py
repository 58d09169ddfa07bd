"""How a function is spelled on a page: as its source has it, which no version of Python changes."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any, Final

_BOUND: Final = ("self", "cls")


def spelled(name: str, function: Callable[..., Any]) -> str:
    """Return a name with the parameters of a function, as `capacity(count: int)`.

    A constant of its module that is a default is there as its value.
    """
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    if not isinstance(found, ast.FunctionDef):
        raise TypeError(f"{name} is no function: {ast.dump(found)[:60]}")
    written = _Written(vars(sys.modules[function.__module__]))
    arguments = written.visit(found.args)
    return f"{name}({ast.unparse(arguments)})"


class _Written(ast.NodeTransformer):
    """Writes parameters as a caller knows them: without the object that has the method."""

    def __init__(self, constants: dict[str, object]) -> None:
        self._constants = constants

    def visit_arguments(self, found: ast.arguments) -> ast.arguments:
        """Take away the first parameter of a method, and go on."""
        for some in (found.posonlyargs, found.args):
            if some and some[0].arg in _BOUND:
                del some[0]
        self.generic_visit(found)
        return found

    def visit_arg(self, found: ast.arg) -> ast.arg:
        """Take the quotes off a type that the module has for checkers alone."""
        if isinstance(found.annotation, ast.Constant):
            found.annotation = ast.Name(str(found.annotation.value))
        return found

    def visit_Name(self, found: ast.Name) -> ast.expr:
        """Write the value of a constant."""
        value = self._constants.get(found.id)
        return ast.Constant(value) if isinstance(value, int | float | str) else found


def first_line(documented: object) -> str:
    """Return what a docstring says first, up to an empty line."""
    said = inspect.getdoc(documented) or ""
    return " ".join(said.partition("\n\n")[0].split())


def in_cell(text: str) -> str:
    """Return a text as a cell of a table can hold it."""
    return text.replace("|", "\\|")
