"""Every code that a refusal can have, found in the source itself."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import belvedere
from belvedere.rest.error_format import STATUS

SOURCE = Path(belvedere.__file__).parent
KINDS = {kind.__name__ for kind, _ in STATUS}
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Raised(NamedTuple):
    """A code, the class that raises it, and its message."""

    code: str
    kind: str
    sentence: str


@cache
def raised() -> list[Raised]:
    """Codes that are passed where something is refused, in the order of the source."""
    trees = [ast.parse(path.read_text()) for path in sorted(SOURCE.rglob("*.py"))]
    everywhere = [call for tree in trees for call in _calls(tree)]
    return [found for tree in trees for found in _in_tree(tree, everywhere)]


def _in_tree(tree: ast.Module, everywhere: list[ast.Call]) -> Iterator[Raised]:
    for call, within in _with_function(tree, None):
        word = next((key.value for key in call.keywords if key.arg == "code"), None)
        if word is None or _name(call) not in KINDS:
            continue
        message = call.args[0]
        if isinstance(word, ast.Constant):
            yield Raised(str(word.value), _name(call), _text(message, {}))
        elif within is not None:
            # The code comes from the caller of the surrounding function.
            is_private = within.name.startswith("_")
            for outer in _calls(tree) if is_private else everywhere:
                given = _given(within, outer) if _name(outer) == within.name else {}
                code = _text(word, given)
                if "…" not in code:
                    yield Raised(code, _name(call), _text(message, given))


@cache
def _calls(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def _with_function(
    node: ast.AST, within: Function | None
) -> Iterator[tuple[ast.Call, Function | None]]:
    for child in ast.iter_child_nodes(node):
        inside = child if isinstance(child, Function) else within
        if isinstance(child, ast.Call):
            yield child, inside
        yield from _with_function(child, inside)


def _given(function: Function, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of this call, by parameter; parameters that are left out have their default."""
    names = [argument.arg for argument in function.args.args]
    defaults = dict(zip(reversed(names), reversed(function.args.defaults), strict=False))
    by_name = {key.arg: key.value for key in call.keywords if key.arg}
    return {**defaults, **dict(zip(names, call.args, strict=False)), **by_name}


def _text(node: ast.expr, given: dict[str, ast.expr]) -> str:
    """A text as far as the source contains it, with an ellipsis for each inserted value."""
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.FormattedValue():
            return _text(node.value, given)
        case ast.JoinedStr():
            return "".join(_text(part, given) for part in node.values)
        case ast.BinOp():
            return _text(node.left, given) + _text(node.right, given)
        case ast.Name() if node.id in given:
            return _text(given[node.id], {})
        case _:
            return "…"


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
