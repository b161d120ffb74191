"""Writes a plugin distribution from the templates beside this module, whole or not at all."""

from __future__ import annotations

import keyword
import re
import runpy
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from primabench_core.errors import UsageError

if TYPE_CHECKING:
    from primabench_core.spec import Field, TaskSpec
    from primabench_core.store.artifact import Artifact

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
SUFFIX = ".tmpl"

ANSWERS = {"class": ("majority", "nearest_centroid"), "number": ("mean", "least_squares")}
"""What a task may ask for, and the baselines that the templates bring for it."""


def check_name(kind: str, name: str) -> str:
    """A name that may be a task or a metric, a module and (with hyphens) a distribution.

    Raises:
        UsageError: it is not in lower-case letters, digits and single underscores, or an installed plugin has it.
    """
    from primabench_core.discovery import names

    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} cannot be the name of a {kind}: expected lower-case letters and digits, words joined by single "
            "underscores, such as cell_state",
            remedy=f"primabench new {kind} my_{kind}",
        )
    owner = next((r.distribution for r in names.records(kind) if r.name == name), "")
    if owner:
        raise UsageError(f"The {kind} {name!r} exists already, in {owner}.", remedy=f"primabench list {kind}s")
    return name


def write(
    kind: str, folder: Path, values: Mapping[str, str], *, split: bool = False, answer: str = "class"
) -> list[Path]:
    """Write a distribution.

    Args:
        kind: Name of the folder of templates: task, metric or dataset.
        folder: Where; it must not exist, or be empty.
        values: What stands for ``${...}`` in the templates.
        answer: What a task asks for, ``class`` or ``number``; templates of a number stand in the place of others.
        split: Also write a frozen id list of the units of the recipe: every third is the test split.

    Returns:
        The files, relative to the folder.

    Raises:
        UsageError: the folder holds something.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not empty; nothing is written over.", remedy="give --output FOLDER")
    weak, strong = ANSWERS[answer]
    baselines = {"weak": weak, "weak_spec": weak.upper(), "strong": strong, "strong_spec": strong.upper()}
    known = {**baselines, **values}
    templates = dict(_templates(kind)) | (dict(_templates(f"{kind}_{answer}")) if answer != "class" else {})
    with tempfile.TemporaryDirectory(prefix="primabench-new-") as temporary:
        stage = Path(temporary, "distribution")
        package = stage / "src" / known["package"]
        package.mkdir(parents=True)
        recipe = templates.get("src/package/recipe.py")
        if recipe is not None:
            (package / "recipe.py").write_text(_filled(recipe, known), encoding="utf-8")
            artifacts = runpy.run_path(str(package / "recipe.py"))["build"](None)
            known["content_hash"] = _content_hash(artifacts, Path(temporary, "hash"))
            if split:
                text = _id_list(artifacts)
                (package / "splits.tsv").write_text(text, encoding="utf-8")
                known["id_list_sha256"] = sha256(text.encode()).hexdigest()
                known["id_list_lines"] = Template(known.get("id_list_lines", "")).substitute(known)
        for name, template in templates.items():
            file = stage / name.replace("src/package", f"src/{known['package']}")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_filled(template, known), encoding="utf-8")
        shutil.copytree(stage, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file())


def _templates(kind: str) -> Iterable[tuple[str, str]]:
    """Relative path without its suffix, and text, of every template of a kind."""
    root = resources.files("primabench_core.cli").joinpath("templates", kind)
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            name = f"{prefix}{entry.name}"
            if entry.is_dir():
                waiting.append((f"{name}/", entry))
            elif name.endswith(SUFFIX):
                yield name.removesuffix(SUFFIX), entry.read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    return Template(template).substitute(values)


def _content_hash(artifacts: list[Artifact], folder: Path) -> str:
    """The hash that a build of these artifacts reaches; as there is no source, the salt is the same everywhere."""
    from primabench_core.store.hashing import dataset_hash
    from primabench_core.store.writing import Layout, write_all

    folder.mkdir()
    public, solution = write_all(folder, "primabench_synthetic/new@1.0.0", artifacts, [], Layout())
    return dataset_hash([(e.view, e.split, e.name, bytes.fromhex(e.root)) for e in public], solution)


def _id_list(artifacts: list[Artifact]) -> str:
    ids = next(a.data.ids for a in artifacts if a.view == "censored") or ()
    return "".join(f"{name}\t{'test' if i % 3 == 2 else 'train'}\n" for i, name in enumerate(ids))


def dataset_values(task: TaskSpec) -> tuple[dict[str, str], bool]:
    """What the templates of a dataset need to know of a task, and whether there is a split.

    Raises:
        UsageError: the task asks for fields that no template can make.
    """
    wanted = [f for f in task.contract.solution if not f.optional]
    lines = [f'        "{f.name}": {_answer(f, task)},' for f in wanted]
    if task.independent_unit and task.independent_unit not in {f.name for f in wanted}:
        lines.append(
            f'        "{task.independent_unit}": np.asarray([f"unit_group_{{w % 9}}" for w in words], object),'
        )
    labels = next((f for f in wanted if f.kind == "label"), None)
    classes = tuple(map(str, _vocabulary(labels))) if labels else ()
    body = {
        True: """    ids = data.id_list()
    return Splits(
        train=data.artifact("labelled").select(ids["train"]),
        test=data.artifact("censored").select(ids["test"]),
        solution=data.artifact("solution").select(ids["test"]),
    )""",
        False: """    return Splits(train=None, test=data.artifact("censored"), solution=data.artifact("solution"))""",
    }[task.supervised]
    id_list = '\n    id_list="${package}:splits.tsv",\n    id_list_sha256="${id_list_sha256}",'
    return {
        "task": task.name,
        "answers": "\n".join(lines),
        "coords": repr({"classes": classes} if classes else {}).replace("'", '"'),
        "prepare_body": body,
        "id_list_lines": id_list if task.supervised else "",
        "split_summary": "Every third unit is the test split." if task.supervised else "All units, no answer given.",
    }, task.supervised


def _vocabulary(f: Field) -> tuple[Any, ...]:
    return f.vocabulary if isinstance(f.vocabulary, tuple) else ("amber", "birch", "cedar")


def _answer(f: Field, task: TaskSpec) -> str:
    """Code that makes one solution field out of ``words``."""
    if f.kind == "label":
        kind = "object" if isinstance(_vocabulary(f)[0], str) else "np.int64"
        return f"np.asarray([{_vocabulary(f)!r}[w % {len(_vocabulary(f))}] for w in words], {kind})".replace("'", '"')
    if f.kind in ("value", "score"):
        low = 0.0 if f.low is None else f.low
        width = 1.0 if f.high is None else f.high - low
        return f"{low!r} + {width!r} * (words % 1001) / 1000"
    raise UsageError(
        f"The solution of task {task.name!r} has the field {f.name!r} of kind {f.kind}, for which no template exists.",
        remedy="write a dataset for another task, and change its recipe by hand",
    )
