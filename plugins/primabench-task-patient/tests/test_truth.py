"""Registry and truth: what a curator may get wrong is refused when it is read, and no repr tells a label."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from primabench_task_patient.scoring import RegistryError, read_inputs, read_registry, read_truth
from primabench_task_patient.scoring.registry import registry_of
from primabench_task_patient.scoring.truth import task_truth
from primabench_task_patient.submitting import open_inputs

GOOD: dict[str, Any] = {
    "datasets": [{"id": "d001", "modality": "bulk-rna"}],
    "tasks": [{"id": "t1", "dataset": "d001", "category": "endotype", "area": "x", "metric": "auroc"}],
}


def changed(**more: Any) -> dict[str, Any]:
    found = copy.deepcopy(GOOD)
    found["tasks"].append({**found["tasks"][0], "id": "t2", **more})
    return found


@pytest.mark.parametrize(
    ("found", "named"),
    [
        ([], "mapping"),
        ({"datasets": []}, "at least one"),
        (changed(dataset="d009"), "not listed"),
        (changed(metric="pearson"), "several metrics"),
        (changed(metric="accuracy", category="other"), "accuracy"),
        (changed(id="t1"), "twice"),
        (changed(id="../t"), "letters"),
        (changed(id=".."), "letters"),
        (changed(id=7), "letters"),
        (changed(area=""), "area"),
        (changed(minimum_n=0), "minimum_n"),
        (changed(minimum_n=True), "minimum_n"),
    ],
)
def test_a_registry_that_is_not_sound(found, named):
    with pytest.raises(RegistryError, match=named):
        registry_of(found)


@pytest.mark.parametrize("least", [0, -5, 2.5, "30", True, None])
def test_a_minimum_is_a_whole_number_from_one(least):
    with pytest.raises(RegistryError, match="t2: minimum_n is a whole number from 1"):
        registry_of(changed(minimum_n=least))
    assert registry_of(changed(minimum_n=1)).tasks["t2"].minimum_n == 1


def test_all_faults_of_a_registry_are_told_at_once():
    found = changed(minimum_n=0, metric="accuracy", category="other", dataset="d009", allow_unstratified="yes")
    found["tasks"] += [{**found["tasks"][0], "area": ""}, {"id": "../t"}, {**found["tasks"][0], "metric": "pearson"}]
    found["tasks"].append({**found["tasks"][0], "id": "t3", "metric": "pearson"})
    found["datasets"].append({"id": "d002"})
    found["synthetic"] = "no"
    with pytest.raises(RegistryError) as caught:
        registry_of(found)
    said = str(caught.value).splitlines()
    assert said[0] == "tasks.yaml has 10 faults:"
    words = (
        "synthetic", "d002: needs modality", "t1: needs area", "tasks[3]", "'t1' occurs twice", "accuracy", "minimum_n",
        "'yes'", "not listed: t2", "'endotype' has several metrics",
    )  # fmt: skip
    for word, line in zip(words, said[1:], strict=True):
        assert word in line


def test_the_hash_of_a_registry_is_of_its_content():
    first = registry_of(GOOD)
    turned = {"tasks": GOOD["tasks"], "datasets": GOOD["datasets"]}
    assert registry_of(turned).sha256 == first.sha256
    assert registry_of(changed()).sha256 != first.sha256


def test_no_yaml_and_no_file(tmp_path):
    with pytest.raises(RegistryError, match="cannot be read"):
        read_registry(tmp_path)
    (tmp_path / "tasks.yaml").write_text("a: [")
    with pytest.raises(RegistryError, match="no YAML"):
        read_registry(tmp_path)
    (tmp_path / "tasks.yaml").write_text("!!python/object/apply:os.system [true]")
    with pytest.raises(RegistryError, match="no YAML"):
        read_registry(tmp_path)


@pytest.fixture
def place(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder / "truth", tmp_path / "truth"))


def edit(place: Path, task: str, change: Any) -> None:
    path = place / task / "labels.csv"
    lines = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("".join(",".join(line) + "\n" for line in change(lines)))


def twice(lines):
    return [*lines, lines[1]]


def column(name, value):
    def change(lines):
        place = lines[0].index(name)
        return [
            lines[0],
            *([*line[:place], value(i, line[place]), *line[place + 1 :]] for i, line in enumerate(lines[1:])),
        ]

    return change


@pytest.mark.parametrize(
    ("task", "change", "named"),
    [
        ("t_endotype", twice, "twice"),
        ("t_endotype", lambda lines: lines[:1], "no sample"),
        ("t_endotype", column("label", lambda i, v: "A"), "1 classes"),
        ("t_endotype", column("label", lambda i, v: "C" if i == 0 else v), "3 classes"),
        ("t_endotype", column("label", lambda i, v: "" if i == 0 else v), "empty"),
        ("t_endotype", column("sample_id", lambda i, v: "who" if i == 0 else v), "who"),
        ("t_endotype", column("fold", lambda i, v: "0"), "folds"),
        ("t_endotype", lambda lines: [[*lines[0], "value"], *([*line, "1"] for line in lines[1:])], "no 'value'"),
        ("t_endotype", lambda lines: [[*lines[0], "name"], *([*line, "x"] for line in lines[1:])], "columns are"),
        ("t_endotype", lambda lines: [lines[0], lines[1][:-1], *lines[2:]], "lengths"),
        ("t_severity", column("value", lambda i, v: "nan" if i == 0 else v), "finite"),
        ("t_severity", column("value", lambda i, v: "high" if i == 0 else v), "no number"),
        ("t_severity", column("group", lambda i, v: "one"), "both sides"),
        ("t_response", column("split", lambda i, v: "fit"), "train"),
        ("t_response", column("split", lambda i, v: "train"), "role"),
    ],
)
def test_a_truth_that_is_not_sound(place, task, change, named):
    edit(place, task, change)
    with pytest.raises(RegistryError, match=named):
        read_truth(place)


def test_folds_that_are_not_stratified_need_a_word(place):
    edit(place, "t_endotype", column("fold", lambda i, v: v))
    path = place / "t_endotype" / "labels.csv"
    header, *rows = [line.split(",") for line in path.read_text().splitlines()]
    rows.sort(key=lambda row: row[1])
    uneven = [[row[0], row[1], str(min(4, i // 12))] for i, row in enumerate(rows)]
    path.write_text("".join(",".join(line) + "\n" for line in [header, *uneven]))
    with pytest.raises(RegistryError, match="share of each class"):
        read_truth(place)
    registry = yaml.safe_load((place / "tasks.yaml").read_text())
    registry["tasks"][0]["allow_unstratified"] = True
    (place / "tasks.yaml").write_text(yaml.safe_dump(registry))
    assert read_truth(place).tasks["t_endotype"].folds["stratified"] is False


def test_hashes_of_labels_are_keyed_and_follow_the_labels(place):
    before = read_truth(place).tasks
    assert {name: t.sha256 for name, t in read_truth(place).tasks.items()} == {n: t.sha256 for n, t in before.items()}
    assert (place / "salt").stat().st_mode & 0o077 == 0
    edit(place, "t_severity", column("value", lambda i, v: str(float(v) + (i == 0))))
    after = read_truth(place).tasks
    assert after["t_severity"].sha256 != before["t_severity"].sha256
    assert after["t_endotype"].sha256 == before["t_endotype"].sha256
    (place / "salt").write_text("ab" * 32)
    assert read_truth(place).tasks["t_endotype"].sha256 != before["t_endotype"].sha256
    (place / "salt").write_text("no hex")
    with pytest.raises(RegistryError, match="hex"):
        read_truth(place)


def test_no_repr_tells_a_label(truth):
    said = repr(truth) + repr(truth.tasks["t_endotype"]) + repr(truth.tasks)
    assert "label" not in said
    assert "Labels" not in said
    assert "samples" in said


def test_the_truth_is_private(folder):
    assert (folder / "truth").stat().st_mode & 0o077 == 0


def test_inputs_are_read_without_labels(folder, tmp_path):
    found = read_inputs(folder / "inputs")
    assert {name: len(samples) for name, samples in found.items()} == {"d001": 60, "d002": 80, "d003": 48}
    copied = Path(shutil.copytree(folder / "inputs", tmp_path / "inputs"))
    listed = yaml.safe_load((copied / "datasets.yaml").read_text())
    listed["datasets"][0]["n_samples"] = 61
    (copied / "datasets.yaml").write_text(yaml.safe_dump(listed))
    with pytest.raises(RegistryError, match="61 samples"):
        read_inputs(copied)
    listed["datasets"][0] |= {"n_samples": 60, "path": "../../etc"}
    (copied / "datasets.yaml").write_text(yaml.safe_dump(listed))
    with pytest.raises(RegistryError, match="out of the folder"):
        read_inputs(copied)


def test_ids_of_samples_that_begin_with_a_byte_order_mark_or_are_no_text(folder, tmp_path):
    inputs = Path(shutil.copytree(folder / "inputs", tmp_path / "inputs"))
    found = read_inputs(inputs)
    listed = inputs / "d001" / "samples.txt"
    listed.write_bytes(("\ufeff" + "\r\n".join(found["d001"])).encode())
    assert read_inputs(inputs) == found
    listed.write_bytes(b"\xff\xfes")
    with pytest.raises(RegistryError, match="not UTF-8"):
        read_inputs(inputs)
    listed.unlink()
    (inputs / "datasets.yaml").write_bytes(b"\xff")
    with pytest.raises(RegistryError, match="no YAML"):
        read_inputs(inputs)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("- {id: 0010}\n", "an id is text"),
        ("- {id: ../truth}\n", "an id is text"),
        ("- {id: d001}\n- {id: d001}\n", "twice"),
    ],
)
def test_lists_of_inputs_that_are_not_sound(tmp_path, text, named):
    (tmp_path / "datasets.yaml").write_text(text)
    with pytest.raises(RegistryError, match=named):
        read_inputs(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b",g1,g2\ns1,1\n", b",g1\ns1,x\n", b",g1,g2\ns1,1\ns2,1,2\n", b"\xff\xfe", b",g1\n\n"]
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_tables_of_counts_that_are_none(tmp_path, content, suffix):
    (tmp_path / "datasets.yaml").write_text(f"- {{id: d001, path: a{suffix}}}\n")
    (tmp_path / f"a{suffix}").write_bytes(content)
    with pytest.raises(RegistryError):
        list(open_inputs(tmp_path))


def test_a_key_that_stands_twice_and_a_word_for_true(folder, tmp_path):
    text = (folder / "truth" / "tasks.yaml").read_text()
    for more, named in (("synthetic: false\n", "stands twice"), ("", "true or false")):
        changed = text.replace("synthetic: true", "synthetic: 'false'") if not more else text + more
        (tmp_path / "tasks.yaml").write_text(changed)
        with pytest.raises(RegistryError, match=named):
            read_registry(tmp_path)


@pytest.mark.parametrize("size", [1e101, 1e200, 1e-101, 1e-300])
def test_values_whose_squares_are_no_numbers(size):
    task = registry_of({**GOOD, "tasks": [{**GOOD["tasks"][0], "metric": "pearson"}]}).tasks["t1"]
    table = {"sample_id": list("abcd"), "value": [str(size * i) for i in (0.0, 1.0, 2.0, 3.0)], "fold": list("0101")}
    with pytest.raises(RegistryError, match="another unit"):
        task_truth(task, table, b"0" * 16)
    table["value"] = [str(size * 0.0 + i) for i in (0.0, 1.0, 2.0, 3.0)]
    assert task_truth(task, table, b"0" * 16).samples == tuple("abcd")
