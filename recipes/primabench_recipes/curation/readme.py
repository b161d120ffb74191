"""Writes what of a README follows from the card: ``python -m primabench_recipes.curation.readme KEY [NAME=FILE …]``.

The table of provenance comes from the specs, the leak audit from the data. Both stand between markers, so that the
rest is free text; a test compares them with what they come from.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.audit import audit
from primabench_recipes.curation.card import AuditPlan
from primabench_recipes.curation.sources_at_hand import labelled_parts, parse_given, run_recipe

if TYPE_CHECKING:
    from primabench_core.store.artifact import Artifact

Pair = tuple[DatasetSpec, RecipeSpec]


def provenance(pairs: Sequence[Pair]) -> str:
    """The table of provenance and the curator history as Markdown; of one data set, or of a family of one layout."""
    card, recipe = pairs[0]
    rows = [("publication", f"{card.publication} doi {card.doi}" if card.doi else card.publication)]
    if len(pairs) == 1:
        rows += [("measured by", card.origin)] if card.origin else []
        rows += [("licence", card.licence), *_sources_of_one(card, recipe)]
    else:
        rows += [(f"`{c.key}`", "; ".join(filter(None, [c.origin, *map(_place, r.sources)]))) for c, r in pairs]
        rows.append(("licence", card.licence))
        rows.append(("SHA-256 of sources", "pinned in `checksums.toml` when fetched"))
    rows.append(("curator", recipe.curator))
    rows += [("history", line) for line in recipe.history]
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _sources_of_one(card: DatasetSpec, recipe: RecipeSpec) -> Iterator[tuple[str, str]]:
    for source in recipe.sources:
        yield f"source `{source.name}`", _place(source)
        if source.licence and source.licence != card.licence:
            yield "its licence", source.licence
        if source.equivalent:
            yield "other encodings of it", ", ".join(f"`{digest}`" for digest in source.equivalent)
        if not source.files:
            yield "its SHA-256", f"`{source.sha256}`" if source.sha256 else "pinned in `checksums.toml` when fetched"


def _place(source: Source) -> str:
    if source.files:
        return f"a folder from {source.url}; files {', '.join(f'`{pattern}`' for pattern in source.files)}"
    distribution, _, inside = source.package.partition(":")
    return source.url or f"`{inside}` in the package {distribution}"


def family_of(recipe: RecipeSpec) -> list[Pair]:
    """All data sets that the same recipe module builds, sorted by key."""
    from primabench_core.discovery import names, registry

    folder = recipe.build.partition(":")[0].rpartition(".")[0] + ".card:"
    keys = [record.name for record in names.records("recipe") if record.target.startswith(folder)]
    return [(registry.load("dataset", key), registry.load("recipe", key)) for key in sorted(keys)]


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


def pending_text(recipe: RecipeSpec) -> str:
    """What stands in place of an audit where nobody has the source yet: how to get it, and what it looks at."""
    plan, several = plan_of(recipe), len(family_of(recipe)) > 1
    module = recipe.build.partition(":")[0].rpartition(".")[0] + ".explore"
    words = "NAME_OF_SET NAME=FILE" if several else "NAME=FILE"
    looks = []
    if plan.identity:
        turned = " and reverse complements" if plan.reverse_complement else ""
        looks.append(f"equal rows{turned} by {', '.join(f'`{name}`' for name in plan.identity)}")
    if plan.near:
        looks.append(f"near duplicates of `{plan.near}` ({plan.k}-mers)")
    looks += [f"balance of `{plan.label}`"] if plan.label else []
    looks += [f"shared `{group}`" for group in plan.groups]
    looks += [f"`{plan.reference[0]}` in the middle of `{plan.reference[1]}`"] if plan.reference else []
    looks += [f"shared scaffolds of `{plan.smiles}`"] if plan.smiles else []
    return (
        f"The audit needs the source: `primabench build` prints it, and so does `python -m {module} {words}`.\n\n"
        f"- it looks at: {'; '.join(looks) or 'the number of rows'}\n"
        f"- public truth: {plan.public_truth or 'none that we know of'}"
    )


def audit_of(recipe: RecipeSpec, artifacts: list[Artifact]) -> list[str]:
    """Findings of the audit over what a recipe returned; printed at its build."""
    from attrs import evolve

    whole = [evolve(artifact, data=artifact.data.load()) for artifact in artifacts]
    return audit(labelled_parts(whole), plan_of(recipe))


def main(words: list[str]) -> None:
    """Rewrite the generated parts of one README; the audit too, where the sources are at hand."""
    from primabench_core.discovery import registry

    key, *given = words
    recipe = registry.load("recipe", key)
    path = readme_of(recipe)
    text = replace(path.read_text(encoding="utf-8"), "provenance", provenance(family_of(recipe)))
    if recipe.is_bundled:
        artifacts = run_recipe(recipe, parse_given(recipe, given))
        text = replace(text, "audit", audit_text(audit_of(recipe, artifacts)))
    else:
        text = replace(text, "audit", pending_text(recipe))
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
