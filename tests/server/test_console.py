"""The endpoint of the console: its page for every address, its cached files, and no other files of
the disk."""

import gzip
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from belvedere.server.console import assets
from belvedere.server.console.api import POLICY
from belvedere.server.console.static_reply import MAX_DEPTH
from belvedere.server.http.app import App
from belvedere.server.runtime import ServerRuntime
from contract.client import Client, Response

# Whether files are served does not depend on the database.
pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

PAGE = f"<!doctype html><html><head>{assets.BASE}</head><body></body></html>\n"
SCRIPT = b"export const answer = 42\n" * 100
SECRET = "do not tell"


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """The result of a build: compressed text, uncompressed images, its own notes."""
    folder = tmp_path / "built" / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / ".vite").mkdir()
    (folder / "index.html").write_text(PAGE)
    (folder / "theme.js").write_text("1")
    (folder / "assets" / "main-C0ffee.js.gz").write_bytes(gzip.compress(SCRIPT))
    (folder / "assets" / "main-C0ffee.js.br").write_bytes(b"packed by brotli")
    (folder / "assets" / "latin-Beef.woff2").write_bytes(b"wOF2")
    (folder / ".stamp").write_text(SECRET)
    (folder / ".vite" / "manifest.json").write_text(SECRET)
    (folder.parent / "outside.txt").write_text(SECRET)
    return folder


@pytest.fixture
def browser(runtime: ServerRuntime, static: Path) -> Client:
    runtime.assets = assets.load(static)
    return Client(App(runtime, runtime.router))


def base_of(page: Response, address: str) -> str:
    """The address at which the browser requests what the page names."""
    match = re.search(r'<base href="([^"]*)" />', page.text)
    assert match is not None
    base: str = match[1]
    return urljoin(address, base)


async def test_the_console_is_served(browser: Client) -> None:
    page = await browser.get("/ui/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.text == PAGE.replace("/ui/", "./")
    assert page.headers["cache-control"] == "no-cache"


async def test_a_status_page_names_its_feeds(browser: Client) -> None:
    page = await browser.get("/ui/status/acme")
    links = re.findall(
        r'<link rel="alternate" type="([^"]*)" title="\w+" href="([^"]*)" />', page.text
    )
    base = base_of(page, "https://belvedere.test/tools/ui/status/acme")
    assert [(kind, urljoin(base, href)) for kind, href in links] == [
        ("application/atom+xml", "https://belvedere.test/tools/-/status/acme/feed.atom"),
        ("application/rss+xml", "https://belvedere.test/tools/-/status/acme/feed.rss"),
    ]
    for path in ("/ui/", "/ui/acme/status/acme", "/ui/status/%22%3E%3Cb%3E", "/ui/status"):
        assert "alternate" not in (await browser.get(path)).text, path


async def test_the_root_leads_to_it(browser: Client) -> None:
    for path in ("/", "/ui"):
        moved = await browser.get(path)
        assert moved.status == 302, path
        for prefix in ("", "/tools/belvedere"):
            address = f"https://belvedere.test{prefix}"
            assert urljoin(address + path, moved.headers["location"]) == f"{address}/ui/"


@pytest.mark.parametrize("prefix", ["", "/tools", "/a/b/c"])
async def test_every_address_below_is_the_page_under_any_prefix(
    browser: Client, prefix: str
) -> None:
    for path in ("/ui/", "/ui/job/1", "/ui/job/", "/ui/host/a%2Fb/c", "/ui/a.b?c=/d/e"):
        page = await browser.get(path)
        assert page.status == 200, path
        address = f"https://belvedere.test{prefix}"
        assert base_of(page, address + path) == f"{address}/ui/", path


async def test_a_hashed_file_is_cached_permanently(browser: Client) -> None:
    for name, kind, data in (
        ("main-C0ffee.js", "text/javascript; charset=utf-8", SCRIPT),
        ("latin-Beef.woff2", "font/woff2", b"wOF2"),
    ):
        file = await browser.get(f"/ui/assets/{name}")
        assert (file.status, file.body, file.headers["content-type"]) == (200, data, kind)
        assert file.headers["cache-control"] == "public, max-age=31536000, immutable"


async def test_other_files_are_revalidated(browser: Client) -> None:
    file = await browser.get("/ui/theme.js")
    assert (file.body, file.headers["cache-control"]) == (b"1", "no-cache")


@pytest.mark.parametrize(
    ("accepted", "given"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("GZIP", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("br; q=0.000, gzip; q=0", ""),
        ("identity", ""),
        ("xbr, gzipped", ""),
        ("", ""),
    ],
)
async def test_the_console_is_compressed_as_the_browser_accepts(
    browser: Client, accepted: str, given: str
) -> None:
    file = await browser.get("/ui/assets/main-C0ffee.js", headers={"accept-encoding": accepted})
    assert file.headers.get("content-encoding", "") == given
    assert file.headers["vary"] == "accept-encoding"
    plain = {"br": SCRIPT, "gzip": gzip.decompress(file.body) if given == "gzip" else b""}
    assert plain.get(given, file.body) == SCRIPT
    assert int(file.headers["content-length"]) == len(file.body)


async def test_a_cache_of_another_origin_keeps_both_apart(browser: Client) -> None:
    headers = {"origin": "https://console.test"}
    file = await browser.get("/ui/assets/main-C0ffee.js", headers=headers)
    assert file.headers["vary"] == "accept-encoding, origin"


async def test_cached_files_are_not_sent_again(browser: Client) -> None:
    for path in ("/ui/", "/ui/job/1", "/ui/theme.js", "/ui/assets/main-C0ffee.js"):
        tag = (await browser.get(path)).headers["etag"]
        for item in (tag, f"W/{tag}", f'"other", {tag}'):
            same = await browser.get(path, headers={"if-none-match": item})
            assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag), path
            assert "content-length" not in same.headers
            assert same.headers["content-security-policy"] == POLICY
        assert (await browser.get(path, headers={"if-none-match": '"x"'})).status == 200


async def test_each_copy_has_a_tag_of_its_own(browser: Client) -> None:
    tags = set()
    for accepted in ("br", "gzip", ""):
        headers = {"accept-encoding": accepted}
        tags.add((await browser.get("/ui/assets/main-C0ffee.js", headers=headers)).headers["etag"])
    shallow, deep = await browser.get("/ui/a"), await browser.get("/ui/a/b")
    assert len(tags | {shallow.headers["etag"], deep.headers["etag"]}) == 5


HOSTILE = [
    "/ui/..",
    "/ui/../outside.txt",
    "/ui/assets/../../outside.txt",
    "/ui/%2e%2e/outside.txt",
    "/ui/%2e%2e%2foutside.txt",
    "/ui/..%2foutside.txt",
    "/ui/assets%2f..%2f..%2foutside.txt",
    "/ui/..%5coutside.txt",
    "/ui/%2f..%2f..%2fetc%2fpasswd",
    "/ui/theme.js%00.html",
    "/ui/%00",
    "/ui/a%0d%0aset-cookie:%20x",
    "/ui/./theme.js",
    "/ui//etc/passwd",
    "/ui/a//b",
    "//ui/",
    "/ui/assets/",
    "/ui/assets/missing-0.js",
    "/ui/assets/main-C0ffee.js.gz",
    "/ui/assets/main-C0ffee.js.br",
    "/ui/" + "a/" * (MAX_DEPTH + 1),
    "/ui/%ff",
]


@pytest.mark.parametrize("path", HOSTILE)
async def test_other_files_cannot_be_read(browser: Client, path: str) -> None:
    missing = await browser.get(path)
    assert missing.status == 404, missing.body
    assert "set-cookie" not in missing.headers
    assert SECRET not in missing.text


async def test_notes_of_the_build_are_not_served(browser: Client) -> None:
    for path in ("/ui/.stamp", "/ui/.vite/manifest.json", "/ui/index.html"):
        page = await browser.get(path)
        assert "<!doctype html>" in page.text and SECRET not in page.text, path


async def test_no_response_allows_foreign_scripts(browser: Client) -> None:
    for path in ("/ui/", "/ui/a/b", "/ui/theme.js", "/ui/assets/missing.js"):
        headers = (await browser.get(path)).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert "script-src" not in POLICY and "default-src 'self';" in POLICY


async def test_only_get_and_head_are_allowed(browser: Client) -> None:
    for method in ("POST", "PUT", "DELETE"):
        refused = await browser.request(method, "/ui/theme.js")
        assert (refused.status, refused.headers["allow"]) == (405, "GET")
    head = await browser.request("HEAD", "/ui/assets/main-C0ffee.js")
    assert (head.status, head.headers["content-length"]) == (200, str(len(SCRIPT)))


async def test_the_console_is_read_from_disk_only_at_the_start(
    browser: Client, static: Path
) -> None:
    (static / "assets" / "main-C0ffee.js.gz").unlink()
    (static / "assets" / "later-0.js").write_text("x")
    assert (await browser.get("/ui/assets/main-C0ffee.js")).body == SCRIPT
    assert (await browser.get("/ui/assets/later-0.js")).status == 404


async def test_a_console_that_is_not_built_says_what_to_do(
    runtime: ServerRuntime, tmp_path: Path
) -> None:
    runtime.assets = assets.load(tmp_path / "nothing")
    page = await Client(App(runtime, runtime.router)).get("/ui/job/1")
    assert (page.status, page.headers["cache-control"]) == (503, "no-store")
    assert "make run" in page.text and page.headers["content-security-policy"] == POLICY
    assert (await Client(App(runtime, runtime.router)).get("/-/health")).status == 200


async def test_the_interface_still_forbids_to_keep(browser: Client) -> None:
    assert (await browser.get("/-/health")).headers["cache-control"] == "no-store"
