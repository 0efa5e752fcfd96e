"""The compiled route table: one look-up per request, both URL styles, no duplicate pattern."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

import msgspec

from belvedere.base.errors import NotAllowed, NotFound
from belvedere.base.ids import is_id
from belvedere.rest.route import Route

# Addresses of the console in the place of an organization's name: /ui/login.
CONSOLE = frozenset({"link", "login", "recover", "setup", "status", "switch"})
# Clients of TheEye put one of these before a path; it has no meaning here.
VERSION_PREFIXES = frozenset({"apiv2", "apiv3"})


@dataclass(slots=True)
class _Node:
    """One node in the tree of path segments."""

    words: dict[str, "_Node"] = field(default_factory=dict)
    by_id: "_Node | None" = None
    by_name: "_Node | None" = None
    rest: "_Node | None" = None
    # Set in a node `by_id` or `by_name`.
    parent: "_Node | None" = None
    # method -> (route, names of the parameters on the path to this node)
    routes: dict[str, tuple[Route, tuple[str, ...]]] = field(default_factory=dict)


class RouteMatch(msgspec.Struct, frozen=True):
    route: Route
    customer: str | None
    path: dict[str, str]


def is_id_name(name: str) -> bool:
    return name == "id" or name.endswith("_id")


class Router:
    """Finds the route of a path. First segments of our own paths are not organization names.

    Pages are routes for browsers: they are not part of the interface.
    """

    def __init__(self, routes: Iterable[Route], pages: Iterable[Route] = ()) -> None:
        self.routes = tuple(routes)
        all_routes = (*self.routes, *pages)
        first_words = frozenset(route.path.split("/")[1] for route in all_routes)
        self.reserved = first_words | CONSOLE | VERSION_PREFIXES
        self._own, self._of_customer = _Node(), _Node()
        for route in all_routes:
            self._add(self._own, route)
            if route.style == "both":
                self._add(self._of_customer, route)

    def _add(self, node: _Node, route: Route) -> None:
        names: list[str] = []
        for part in route.path.split("/")[1:]:
            if not part.startswith("{"):
                node = node.words.setdefault(part, _Node())
                continue
            names.append(part[1:-1].removesuffix("..."))
            if part.endswith("...}"):
                node.rest = node = node.rest or _Node()
            elif is_id_name(names[-1]):
                parent, node = node, node.by_id or _Node()
                parent.by_id, node.parent = node, parent
            else:
                parent, node = node, node.by_name or _Node()
                parent.by_name, node.parent = node, parent
        assert route.method not in node.routes, f"{route.method} {route.path} is declared twice"
        node.routes[route.method] = (route, tuple(names))

    def match(self, method: str, raw_path: bytes) -> RouteMatch:
        """The route for this request; NotFound or NotAllowed otherwise."""
        try:
            parts = segments(raw_path)
        except UnicodeDecodeError:
            raise NotFound("The path is not UTF-8.", code="no_such_path") from None
        if len(parts) > 1 and parts[1] and parts[0] in VERSION_PREFIXES:
            parts = parts[1:]
        customer = None
        tree = self._own
        # An empty segment is not a name: //job is not /job.
        if parts[1:] and parts[0] and parts[0] not in self.reserved:
            customer, parts, tree = parts[0], parts[1:], self._of_customer
        match = _walk(tree, parts, 0, [])
        if match is None:
            raise NotFound("There is nothing at this path.", code="no_such_path")
        node, values = match
        if method not in node.routes and node.parent is not None:
            node = _other_form(node, node.parent, method)
        if method not in node.routes:
            raise NotAllowed(tuple(sorted(node.routes)))
        route, names = node.routes[method]
        return RouteMatch(route, customer, dict(zip(names, values, strict=True)))

    def methods(self, raw_path: bytes) -> tuple[str, ...]:
        """The methods of a path, for OPTIONS."""
        try:
            self.match("OPTIONS", raw_path)
        except NotAllowed as refusal:
            return refusal.allow
        return ()


def _other_form(node: _Node, parent: _Node, method: str) -> _Node:
    """For a method that a path has only in its other form: a name may look like an id."""
    if node is parent.by_id and parent.by_name is not None and method in parent.by_name.routes:
        return parent.by_name
    if node is parent.by_name and parent.by_id is not None and method in parent.by_id.routes:
        # The path of a record, with an id of another form.
        raise NotFound("There is nothing at this path.", code="no_such_path")
    return node


def segments(raw_path: bytes) -> list[str]:
    """Split before decoding: a segment may contain a slash, written as %2F."""
    if b"%" not in raw_path:
        return raw_path.decode().split("/")[1:]
    return [unquote_to_bytes(part).decode() for part in raw_path.split(b"/")[1:]]


def _walk(
    node: _Node, parts: list[str], at: int, values: list[str]
) -> tuple[_Node, list[str]] | None:
    if at == len(parts):
        return (node, values) if node.routes else None
    part = parts[at]
    word = node.words.get(part)
    if word is not None:
        match = _walk(word, parts, at + 1, values)
        if match is not None:
            return match
    if node.by_id is not None and is_id(part):
        match = _walk(node.by_id, parts, at + 1, [*values, part])
        if match is not None:
            return match
    if node.by_name is not None and part:
        match = _walk(node.by_name, parts, at + 1, [*values, part])
        if match is not None:
            return match
    if node.rest is not None:
        return node.rest, [*values, "/".join(parts[at:])]
    return None
