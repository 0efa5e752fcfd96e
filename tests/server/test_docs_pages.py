"""`/-/docs/`: pages for everyone, cached, with links that work under any prefix."""

import gzip
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from belvedere.server.console import docs_site
from belvedere.server.console.docs_api import IMAGE_POLICY, POLICY
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from contract.client import Client

# Whether files are served does not depend on the database.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

MISSING = '<a href="#main">x</a><a href="index.html"></a><script src="assets/site-1.js"></script>'
PAGE = "<!doctype html><title>Back up</title>" + "<p>text</p>" * 200
SECRET = "not for anyone"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "built" / "docs"
    for name, data in (
        ("index.html", b"<!doctype html><title>Belvedere</title>"),
        ("404.html", MISSING.encode()),
        ("llms.txt", b"# Belvedere\n"),
        ("howto/index.html", b"<!doctype html><title>How-to</title>"),
        ("howto/back-up.html.gz", gzip.compress(PAGE.encode())),
        ("howto/back-up.md", b"# Back up\n"),
        ("img/story.svg", b"<svg/>"),
        ("assets/site-1.css", b"p {}"),
        (".stamp", SECRET.encode()),
        ("../outside.txt", SECRET.encode()),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def reader(runtime: ServerRuntime, folder: Path) -> Client:
    runtime.docs = docs_site.load(folder)
    return Client(App(runtime, runtime.router))


async def test_documentation_pages_are_served(reader: Client) -> None:
    for path, kind, part in (
        ("/-/docs/", "text/html; charset=utf-8", "Belvedere"),
        ("/-/docs/index.html", "text/html; charset=utf-8", "Belvedere"),
        ("/-/docs/howto/", "text/html; charset=utf-8", "How-to"),
        ("/-/docs/howto/back-up.html", "text/html; charset=utf-8", "Back up"),
        ("/-/docs/howto/back-up.md", "text/markdown; charset=utf-8", "# Back up"),
        ("/-/docs/llms.txt", "text/plain; charset=utf-8", "# Belvedere"),
        ("/-/docs/assets/site-1.css", "text/css; charset=utf-8", "p {}"),
    ):
        page = await reader.get(path)
        assert (page.status, page.headers["content-type"]) == (200, kind), path
        assert part in page.text, path
        assert page.headers["content-security-policy"] == POLICY
        assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("prefix", ["", "/tools/belvedere"])
async def test_an_address_without_suffix_leads_to_the_page(reader: Client, prefix: str) -> None:
    for path, target in (
        ("/-/docs", "/-/docs/"),
        ("/-/docs/howto", "/-/docs/howto/"),
        ("/-/docs/howto/back-up", "/-/docs/howto/back-up.html"),
    ):
        moved = await reader.get(path)
        assert moved.status == 302, path
        address = f"https://belvedere.test{prefix}{path}"
        assert urljoin(address, moved.headers["location"]).endswith(prefix + target)


async def test_pages_are_revalidated_and_assets_cached_permanently(reader: Client) -> None:
    for path, rule in (
        ("/-/docs/howto/back-up.html", "no-cache"),
        ("/-/docs/assets/site-1.css", "public, max-age=31536000, immutable"),
    ):
        first = await reader.get(path)
        assert first.headers["cache-control"] == rule
        same = await reader.get(path, headers={"if-none-match": first.headers["etag"]})
        assert (same.status, same.body) == (304, b"")


async def test_a_page_is_compressed_if_the_browser_accepts_it(reader: Client) -> None:
    path = "/-/docs/howto/back-up.html"
    packed = await reader.get(path, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body).decode() == PAGE == (await reader.get(path)).text


async def test_a_head_request_has_the_headers_of_the_page(reader: Client) -> None:
    page = await reader.get("/-/docs/howto/back-up.html")
    head = await reader.request("HEAD", "/-/docs/howto/back-up.html")
    assert head.status == 200
    assert head.headers["content-length"] == str(len(page.body))
    assert head.headers["etag"] == page.headers["etag"]
    assert (await reader.request("POST", "/-/docs/")).status == 405


async def test_a_missing_page_links_to_the_existing_ones(reader: Client) -> None:
    for path in ("/-/docs/nothing", "/-/docs/howto/nothing.html", "/-/docs/a/b/c/d"):
        page = await reader.get(path)
        assert (page.status, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
        assert page.headers["content-security-policy"] == POLICY
        links = re.findall(r'(?:href|src)="([^#"]+)"', page.text)
        targets = [urljoin(f"https://belvedere.test/x{path}", link) for link in links]
        assert targets == [
            "https://belvedere.test/x/-/docs/index.html",
            "https://belvedere.test/x/-/docs/assets/site-1.js",
        ]
        assert 'href="#main"' in page.text


@pytest.mark.parametrize(
    "path",
    [
        "/-/docs/..",
        "/-/docs/../outside.txt",
        "/-/docs/%2e%2e/outside.txt",
        "/-/docs/%2e%2e%2foutside.txt",
        "/-/docs/howto/..%2f..%2foutside.txt",
        "/-/docs/..%5coutside.txt",
        "/-/docs/%2fetc%2fpasswd",
        "/-/docs/index.html%00.md",
        "/-/docs/.stamp",
        "/-/docs/howto/back-up.html.gz",
        "/-/docs//index.html",
        "/-/docs/" + "a/" * 40,
        "/-/docs/%ff",
    ],
)
async def test_only_files_of_the_build_are_served(reader: Client, path: str) -> None:
    missing = await reader.get(path)
    assert missing.status == 404
    assert SECRET not in missing.text


async def test_an_image_cannot_run_scripts(reader: Client) -> None:
    image = await reader.get("/-/docs/img/story.svg")
    assert image.headers["content-security-policy"] == IMAGE_POLICY
    assert "default-src 'none'" in IMAGE_POLICY and "script" not in IMAGE_POLICY + POLICY


async def test_files_are_read_when_they_are_requested(reader: Client, folder: Path) -> None:
    site = docs_site.load(folder)
    assert site.files == {}
    await reader.get("/-/docs/llms.txt")
    (folder / "llms.txt").unlink()
    assert list(site.files) == ["llms.txt"]
    assert (await reader.get("/-/docs/llms.txt")).status == 200


async def test_documentation_that_is_not_built_says_what_to_do(
    runtime: ServerRuntime, tmp_path: Path
) -> None:
    runtime.docs = docs_site.load(tmp_path / "nothing")
    page = await Client(App(runtime, runtime.router)).get("/-/docs/howto/")
    assert (page.status, page.headers["cache-control"]) == (503, "no-store")
    assert "make run" in page.text
