"""The page, clicked through in headless Chromium from a file: no server, no network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from primabench_board.export import export
from primabench_board.ledger import Ledger
from primabench_board.registry import parse_registry
from primabench_board.standings import compute

from .conftest import ALL, REGISTRY, submission

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'test')")
expect = sync_api.expect

EVIL = "<img src=x onerror=document.title='owned'><script>document.title=1</script>"
PLACES = [os.environ.get("PRIMABENCH_TEST_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
SPLIT = {"t1": 0.8, "t2": "sample_missing", "t3": 0.7, "t4": 0.3}


def chromium() -> str:
    """The system's browser; Playwright's own download is not asked for."""
    found = next((path for path in map(shutil.which, filter(None, PLACES)) if path), None)
    if not found:
        pytest.skip("no Chromium is installed (apt-get install chromium), and PRIMABENCH_TEST_CHROMIUM is not set")
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    registry = parse_registry(REGISTRY + "rules: {skill: true, daily_cap: 30}\n")
    with Ledger(":memory:") as ledger:
        for number in range(12):
            scores: dict[str, float | str] = {t: round(v - number / 50, 3) for t, v in ALL.items()}
            scores["t2"] = round(0.1 + 3 * number / 50, 3)  # another order than the mean's
            name = EVIL if number == 3 else f"model {number:02d}"
            ledger.add(submission(registry, name, scores, is_baseline=number == 5), registry)
        ledger.add(submission(registry, "partial", SPLIT), registry)
        ledger.add(submission(registry, "random", {"t5": -0.05}, is_baseline=True), registry)
        export(compute(registry, ledger.entries()), folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any, site: Path) -> Iterator[Any]:
    """Opens the page at an address; whatever it asks of a network, logs or throws is an error."""
    contexts, asked, said = [], [], []

    def opened(address: str = "", *, width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("request", lambda r: asked.append(r.url))
        page.on("console", lambda m: said.append(m.text))
        page.on("pageerror", lambda e: said.append(str(e)))
        page.goto(f"{(site / 'index.html').as_uri()}{address}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
    assert all(url.startswith(site.as_uri()) for url in asked), asked


def column(page: Any, table: str, number: int) -> list[str]:
    return page.locator(f"#{table} tbody tr > :nth-child({number})").all_inner_texts()


def names(page: Any, table: str = "ranked") -> list[str]:
    return page.locator(f"#{table} tbody .name").all_inner_texts()


def test_through_all_pages(visit):
    page = visit()
    expect(page.locator("h1")).to_have_text("Immune boards")
    for tab, heading in (
        ("Leaderboard", "Bulk RNA-seq"), ("Tasks", "Tasks"), ("Submit", "Submit"), ("Contribute", "Contribute"),
        ("About", "About"), ("Home", "Immune boards"),
    ):  # fmt: skip
        page.locator("#tabs").get_by_role("link", name=tab, exact=True).click()
        expect(page.locator("h1")).to_have_text(heading)
        expect(page.locator("#tabs [aria-current=page]")).to_have_text(tab)
        assert f"tab={tab.lower()}" in page.url
        assert page.locator("h1").count() == 1
        page.reload()
        expect(page.locator("h1")).to_have_text(heading)
    page.go_back()
    expect(page.locator("h1")).to_have_text("About")
    assert "Example Institute" in page.locator("main").inner_text()
    page.go_back()
    assert "single cell" in page.locator("main").inner_text().lower()


def test_boards_survive_a_reload(visit):
    page = visit()
    page.get_by_role("link", name="Rheumatology").click()
    assert "board=rheumatology-bulk-rna" in page.url
    page.reload()
    expect(page.locator("h1")).to_have_text("Rheumatology")
    page.locator("#board").select_option("dermatology-bulk-rna")
    expect(page.locator("h1")).to_have_text("Dermatology")
    assert "board=dermatology-bulk-rna" in page.url
    page.locator("#tabs").get_by_role("link", name="Tasks").click()
    assert "board=dermatology-bulk-rna" in page.url
    assert sorted(names(page, "tasks")) == ["Response", "Severity"]
    page.get_by_role("link", name="Severity").click()
    assert "task=t2" in page.url
    page.reload()
    expect(page.locator("h1")).to_have_text("Severity")
    page.go_back()
    expect(page.locator("h1")).to_have_text("Tasks")


@pytest.mark.parametrize("address", ["?board=endotype-bulk-rna", "?tab=leaderboard&board=endotype-bulk-rna"])
def test_deep_links(visit, address):
    expect(visit(address).locator("h1")).to_have_text("Endotype")


def test_what_does_not_exist_is_said(visit):
    evil = "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
    for address, words in ((f"?board={evil}", "No such board"), (f"?tab=tasks&task={evil}", "No such task")):
        page = visit(address)
        expect(page.locator("h1")).to_have_text(words)
        assert page.locator("main img").count() == 0
        assert "<img src=x" in page.locator("main").inner_text()
    expect(visit("?tab=nonsense").locator("h1")).to_have_text("Immune boards")


def test_names_are_inert(visit):
    for address in ("", "?board=bulk-rna", "?tab=tasks&task=t1", "?tab=tasks"):
        page = visit(address)
        assert page.locator("main img, main script").count() == 0
        assert "owned" not in page.title()
    assert EVIL in names(visit("?board=bulk-rna"))


def test_only_our_script_runs(browser, site):
    """Even a node that escaped us could run nothing: the policy knows one script."""
    page = browser.new_page()
    refused = []
    page.on("console", lambda m: refused.append(m.text))
    page.goto((site / "index.html").as_uri())
    ran = page.evaluate("""() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1';
        document.body.append(s); return window.ran === 1; }""")
    assert ran is False
    assert "Content Security Policy" in refused[0]
    page.close()


def test_sorting(visit):
    page = visit("?board=bulk-rna")
    by_rank = names(page)
    assert by_rank[0] == "model 00"
    head = page.locator("#ranked thead th")
    expect(head.nth(0)).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Clinical scores").click()
    expect(head.nth(3)).to_have_attribute("aria-sort", "descending")
    assert head.nth(0).get_attribute("aria-sort") is None
    values = [float(v.split("\n")[0].split()[0].replace("−", "-")) for v in column(page, "ranked", 4)]
    assert values == sorted(values, reverse=True)
    page.get_by_role("button", name="Clinical scores").press("Enter")
    expect(head.nth(3)).to_have_attribute("aria-sort", "ascending")
    assert "sorted by Clinical scores, ascending" in page.locator("#said").inner_text()
    page.get_by_role("button", name="Rank").click()
    assert names(page) == by_rank
    page.get_by_role("searchbox").fill("MODEL 07")
    assert names(page) == ["model 07"]
    page.get_by_role("searchbox").fill("nobody")
    assert "No model has “nobody”" in page.locator("#ranked").inner_text()


def test_what_a_board_shows(visit):
    page = visit("?board=bulk-rna")
    heads = page.locator("#ranked thead th").all_inner_texts()
    assert any("Mean" in h and "ordering only" in h for h in heads)
    assert any("Skill" in h and "never ranks" in h for h in heads)
    assert "max(0, (score - chance) / (1 - chance))" in page.locator("#ranked caption").inner_text()
    assert "model 05 (baseline)" in names(page)
    row = page.locator("#ranked tbody tr").first
    assert "0.750 to 0.850" in row.inner_text()
    assert row.locator("svg .span").count() == 3
    assert page.locator("#unranked").get_by_text("skipped: sample missing").count() == 1
    box = row.locator("svg").first.bounding_box()
    dot = row.locator("svg .dot").first.bounding_box()
    assert box["x"] <= dot["x"] + dot["width"] / 2 <= box["x"] + box["width"]
    single = visit("?board=endotype-bulk-rna")
    assert not any("Mean" in h for h in single.locator("#ranked thead th").all_inner_texts())


def test_tables_of_tasks_hold_what_is_not_ranked(visit):
    page = visit("?tab=tasks&task=t2")
    assert "partial" in names(page, "task")
    last = page.locator("#task tbody tr").last.inner_text()
    assert "skipped: sample missing" in last
    assert "0.0" not in last.split("2026")[0]  # what is missing is no number
    assert "78 patients" in page.locator("#task tbody tr").first.inner_text()


def test_tables_can_be_heard(visit):
    page = visit("?board=bulk-rna")
    table = page.get_by_role("table").first
    assert table.locator("caption").count() == 1
    assert table.get_by_role("columnheader").count() == 7
    assert table.get_by_role("rowheader").count() == 12
    assert page.locator("html").get_attribute("lang") == "en"
    unnamed = page.evaluate("""() => [...document.querySelectorAll('button, select, input, a')].filter((n) =>
        !(n.textContent.trim() || n.getAttribute('aria-label') || n.labels?.length)).length""")
    assert unnamed == 0
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_schemes_have_contrast(visit, scheme):
    page = visit("?board=bulk-rna", scheme=scheme)
    ratios = page.evaluate("""() => {
      const lum = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map((v) => { v /= 255;
        return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
      const paper = lum(getComputedStyle(document.body).backgroundColor);
      return [...document.querySelectorAll('main *, header *, footer *')].filter((n) => [...n.childNodes].some((c) =>
        c.nodeType === 3 && c.data.trim()) && !n.closest('.arrow, .hidden, svg, option')).map((n) => {
          const ink = lum(getComputedStyle(n).color);
          return (Math.max(ink, paper) + .05) / (Math.min(ink, paper) + .05); }); }""")
    assert len(ratios) > 50
    assert min(ratios) >= 4.5
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 22, 20)"
    assert dark is (scheme == "dark")


def test_the_scheme_can_be_chosen(visit):
    page = visit()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    button = page.locator("#scheme")
    button.click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before
    button.click()
    expect(button).to_have_text("Dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 22, 20)"
    page.reload()
    expect(page.locator("#scheme")).to_have_text("Dark")


TOO_WIDE = """(width) => [...document.querySelectorAll('main *')].filter((n) => {
    const box = n.getBoundingClientRect();
    return box.width > 0 && box.right > width + 1 && n.tagName !== 'OPTION'
        && !n.closest('.wide, pre, .hidden, svg, thead'); }).map((n) => n.outerHTML.slice(0, 120))"""
ADDRESSES = ["", "?board=bulk-rna", "?tab=tasks", "?tab=tasks&task=t2", "?tab=submit", "?tab=about"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_nothing_is_wider_than_the_screen(visit, address):
    page = visit(address)
    for width in (320, 390, 800, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(50)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOO_WIDE, width) == []


def test_a_phone_shows_cards_and_can_sort(visit):
    page = visit("?board=bulk-rna", width=390, height=844)
    row = page.locator("#ranked tbody tr").first
    assert (
        row.locator("td").nth(1).evaluate("n => getComputedStyle(n, '::before').content")
        == '"Treatment outcome, AUROC"'
    )
    page.get_by_label("Sort by").first.select_option("family-clinical-scores")
    assert names(page)[0] == "model 11"
    assert page.get_by_role("table").first.get_by_role("row").count() == 13  # the head is still there to be heard


def test_the_head_stays_in_sight(visit):
    page = visit("?board=bulk-rna", height=500)
    page.evaluate("window.scrollTo(0, 700)")
    top = page.locator("#ranked thead th").first.bounding_box()
    bar = page.locator(".bar").bounding_box()
    assert bar["y"] == 0
    assert abs(top["y"] - bar["height"]) <= 2


def test_long_tables_come_in_portions(browser, tmp_path):
    registry = parse_registry(REGISTRY)
    with Ledger(":memory:") as ledger:
        for number in range(130):
            ledger.add(submission(registry, f"model {number:03d}", {"t5": 1 - number / 200}), registry)
        export(compute(registry, ledger.entries()), tmp_path / "site")
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'site' / 'index.html').as_uri()}?board=proteomics")
    assert page.locator("#ranked tbody tr").count() == 100
    page.get_by_role("button", name="Show the other 30 models").click()
    assert page.locator("#ranked tbody tr").count() == 130
    page.close()


def test_boards_say_what_is_not_resolvable(browser, tmp_path):
    registry = parse_registry(REGISTRY.replace("title: Joints}", "title: Joints, minimum_n: 79}"))  # of 78 patients
    with Ledger(":memory:") as ledger:
        ledger.add(submission(registry, "One", ALL), registry)
        export(compute(registry, ledger.entries()), tmp_path / "site")
    page = browser.new_page()
    home = (tmp_path / "site" / "index.html").as_uri()
    page.goto(home)
    expect(page.locator("article", has_text="all tasks").first).to_contain_text("4 tasks, 1 not resolvable")
    expect(page.locator("article", has_text="Endotype").last).not_to_contain_text("not resolvable")
    page.goto(f"{home}?board=bulk-rna")
    heads = page.locator("#ranked thead th").all_inner_texts()
    assert ["not resolvable" in head for head in heads] == [False, False, False, True, False, False]
    cells = page.locator("#ranked tbody td")
    titles = [cells.nth(i).get_attribute("data-title") or "" for i in range(cells.count())]
    assert [title for title in titles if "not resolvable" in title] == ["Clinical scores, Pearson r, 1 not resolvable"]
    page.goto(f"{home}?board=clinical-scores-bulk-rna")
    assert "2 tasks, 1 not resolvable" in page.locator("#ranked thead").inner_text()
    page.close()


def test_nothing_submitted_yet(browser, tmp_path, registry):
    export(compute(registry, []), tmp_path / "site")
    page = browser.new_page()
    page.goto((tmp_path / "site" / "index.html").as_uri())
    assert "Nothing was submitted yet" in page.locator("main").inner_text()
    page.get_by_role("link", name="Endotype").click()
    expect(page.get_by_role("heading", name="No model is ranked here yet")).to_be_visible()
    page.get_by_role("link", name="How to submit").click()
    expect(page.locator("h1")).to_have_text("Submit")
    page.goto(f"{(tmp_path / 'site' / 'index.html').as_uri()}?tab=tasks&task=t1")
    assert "Nobody submitted" in page.locator("main").inner_text()
    page.close()


def test_without_scripts_there_are_files(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.get_by_role("link", name="Bulk RNA-seq (bulk-rna)").get_attribute("href") == "boards/bulk-rna.csv"
    assert page.get_by_role("link", name="every result").get_attribute("href") == "results.csv"
    context.close()


CUT = "all => all.filter(n => n.scrollWidth > n.clientWidth + 1).map(n => n.textContent)"


@pytest.mark.parametrize("width", [390, 1280])
def test_commands_are_whole(visit, width):
    page = visit("?tab=submit", width=width)
    assert page.locator("pre").evaluate_all(CUT) == []
    assert "--truth truth/ \\\n    --model" in page.locator("pre").last.text_content()
    heights = page.locator("pre span", has_text="--").evaluate_all("all => all.map(n => n.getClientRects().length)")
    assert set(heights) == {1}  # no option is broken at its hyphens


def test_a_phone_shows_what_stands_beside_an_interval(browser, tmp_path):
    registry = parse_registry(REGISTRY.replace("title: Joints}", "title: Joints, minimum_n: 79}"))
    with Ledger(":memory:") as ledger:
        ledger.add(submission(registry, "One", ALL), registry)
        export(compute(registry, ledger.entries()), tmp_path / "site")
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(f"{(tmp_path / 'site' / 'index.html').as_uri()}?tab=tasks&task=t4")
    ends = page.locator(".ends")
    assert "not resolvable" in ends.first.inner_text()
    assert ends.evaluate_all(CUT) == []
    box = ends.first.evaluate(
        "n => { const r = document.createRange(); r.selectNodeContents(n); return r.getBoundingClientRect().right }"
    )
    assert box <= 390 - 16
    page.close()
