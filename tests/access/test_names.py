"""Names of organizations, people and tags."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from belvedere.access.people import naming
from belvedere.base.errors import Invalid
from belvedere.base.ids import is_id

RESERVED = frozenset({"job", "-", "api"})


def test_names_and_addresses_are_normalized() -> None:
    assert naming.customer_name(" Acme ", RESERVED) == "acme"
    assert naming.email(" Ada@Acme.Test ") == "ada@acme.test"


@pytest.mark.parametrize("name", ["a", "9", "a.b_c-d", "x" * 64, "jobs"])
def test_an_organization_can_be_called(name: str) -> None:
    assert naming.customer_name(name, RESERVED) == name


@pytest.mark.parametrize(
    "name", ["", " ", ".a", "-a", "_a", "a b", "ä", "a/b", "x" * 65, "job", "JOB", "api", "a\nb"]
)
def test_an_organization_cannot_be_called(name: str) -> None:
    with pytest.raises(Invalid) as caught:
        naming.customer_name(name, RESERVED)
    assert caught.value.code == "bad_name"


@pytest.mark.parametrize("text", ["", "ada", "@x", "a@", "a@b@c", "a b@c", "a:b@c", "a@b\0c"])
def test_an_email_cannot_be(text: str) -> None:
    with pytest.raises(Invalid):
        naming.email(text)


@example("01a1dd380d0405eb6baf425f")
@given(st.text(max_size=80))
def test_every_email_gives_a_user_name_that_is_neither_an_email_nor_a_tag_nor_an_id(
    local: str,
) -> None:
    name = naming.username_from(f"{local.lower()}@acme.test")
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name) and not is_id(name)


@given(st.text(max_size=40))
def test_email_and_tag_cannot_be_mistaken_for_each_other(text: str) -> None:
    kinds = 0
    for rule in (naming.email, lambda text: naming.tags([text])):
        try:
            rule(text)
            kinds += 1
        except Invalid:
            pass
    assert kinds <= 1


def test_tags_are_lower_case_and_there_once() -> None:
    assert naming.tags(["Team:Blue", "team:blue", "site:x@y"]) == ["team:blue", "site:x@y"]


@pytest.mark.parametrize("tag", ["", "blue", ":blue", "team:", "team: blue", "a@b:c", "t:\0"])
def test_the_invalid_tag_is_named(tag: str) -> None:
    with pytest.raises(Invalid) as caught:
        naming.tags(["a:b", tag])
    assert [fault.field for fault in caught.value.faults] == ["tags[1]"]


def test_the_number_of_tags_is_limited() -> None:
    with pytest.raises(Invalid):
        naming.tags([f"n:{n}" for n in range(naming.MAX_TAGS + 1)])


@pytest.mark.parametrize("text", ["anonymous", "agent", "root", "", "ADMIN"])
def test_a_member_cannot_have_the_level(text: str) -> None:
    with pytest.raises(Invalid):
        naming.level(text)
