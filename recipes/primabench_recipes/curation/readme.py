"""Writes what of a README follows from the card: ``python -m primabench_recipes.curation.readme KEY [NAME=FILE …]``.

The table of provenance comes from the specs, the leak audit from the data. Both stand between markers, so that the
rest is free text; a test compares them with what they come from.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

from primabench_core.spec import DatasetSpec, RecipeSpec
from primabench_recipes.curation.audit import audit
from primabench_recipes.curation.card import AuditPlan
from primabench_recipes.curation.sources_at_hand import labelled_parts, parse_given, run_recipe


def provenance(card: DatasetSpec, recipe: RecipeSpec) -> str:
    """The table of provenance and the curator history as Markdown."""
    rows = [("publication", f"{card.publication} doi {card.doi}" if card.doi else card.publication)]
    if card.origin:
        rows.append(("measured by", card.origin))
    rows.append(("licence", card.licence))
    for source in recipe.sources:
        place = f"`{source.package.partition(':')[2]}` in the package {source.package.partition(':')[0]}"
        if source.files:
            place = f"a folder from {source.url}; files {', '.join(f'`{pattern}`' for pattern in source.files)}"
        elif source.url:
            place = source.url
        rows.append((f"source `{source.name}`", place))
        if source.licence and source.licence != card.licence:
            rows.append(("its licence", source.licence))
        rows.append(
            ("its SHA-256", f"`{source.sha256}`" if source.sha256 else "pinned in `checksums.toml` when fetched")
        )
    rows.append(("curator", recipe.curator))
    rows += [("history", line) for line in recipe.history]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def audit_text(lines: list[str]) -> str:
    """The findings of an audit as Markdown."""
    return "\n".join(f"- {line}" for line in lines)


def replace(text: str, marker: str, body: str) -> str:
    """The text with what stands between two markers replaced.

    Raises:
        ValueError: the markers are not there.
    """
    begin, end = f"<!-- generated: {marker} -->", f"<!-- end: {marker} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"no {begin} … {end}")
    return pattern.sub(lambda _: f"{begin}\n{body}\n{end}", text, count=1)


def between(text: str, marker: str) -> str:
    """What stands between two markers."""
    return text.partition(f"<!-- generated: {marker} -->\n")[2].partition(f"\n<!-- end: {marker} -->")[0]


def readme_of(recipe: RecipeSpec) -> Path:
    """README.md beside a recipe."""
    module = import_module(recipe.build.partition(":")[0])
    return Path(str(module.__file__)).with_name("README.md")


def plan_of(recipe: RecipeSpec) -> AuditPlan:
    """The audit plan that the card beside a recipe declares."""
    card = import_module(recipe.build.partition(":")[0].rpartition(".")[0] + ".card")
    plan: AuditPlan = card.AUDIT
    return plan


def main(words: list[str]) -> None:
    """Rewrite the generated parts of one README; the audit too, where the sources are at hand."""
    from primabench_core.discovery import registry

    key, *given = words
    recipe, card = registry.load("recipe", key), registry.load("dataset", key)
    path = readme_of(recipe)
    text = replace(path.read_text(encoding="utf-8"), "provenance", provenance(card, recipe))
    if recipe.is_bundled:
        artifacts = run_recipe(recipe, parse_given(recipe, given))
        text = replace(text, "audit", audit_text(audit(labelled_parts(artifacts), plan_of(recipe))))
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
