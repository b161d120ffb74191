"""What an error advises, in the words of whoever meets it: arguments in Python, options on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import primabench_core as pb
from primabench_core.advice import EVERY, Advice, for_command
from primabench_core.cli.evaluate_command import configure
from primabench_core.cli.main import Parser

TASK = "cell_type_annotation"
SYNTHETIC = "primabench_synthetic/cell_type_annotation@1.0.0"
EVALUATE = ["evaluate", "--task", TASK, "--dataset", SYNTHETIC, "--ci", "none"]


@pytest.fixture
def ids(store: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    return list(pb.load(pb.fetch_test(TASK, dataset=SYNTHETIC)).ids)


@pytest.fixture
def classes(store: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("PRIMABENCH_STORE", str(store))
    return [str(c) for c in pb.load(pb.fetch_test(TASK, dataset=SYNTHETIC)).coords["classes"]]


def table(folder: Path, header: str, rows: list[str], name: str = "p.csv") -> str:
    (folder / name).write_text("\n".join([header, *rows]) + "\n")
    return str(folder / name)


# -- two wordings ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("advice", EVERY, ids=lambda a: a.command[:30])
def test_every_advice_is_found_in_a_message_and_names_options_that_there_are(advice: Advice) -> None:
    names = re.findall(r"\{(\w+)\}", advice.python)
    values = {name: ["a b", "c"] if name == "names" else "it's a" for name in names}
    told = for_command(f"before {advice.text(**values)} after")
    assert told.startswith("before ")
    assert told.endswith(" after")
    assert advice.python.split("{")[0] not in told or advice.command.startswith(advice.python.split("{")[0])
    assert not names or "'it'\"'\"'s a'" in told or "'a b,c'" in told  # as a shell takes it
    parser = Parser(prog="primabench evaluate")
    configure(parser)
    known = {"--test-only", *(option for action in parser._actions for option in action.option_strings)}
    assert set(re.findall(r"(?<![\w-])--[a-z-]+", advice.command)) - {"--task", "--dataset"} <= known


def test_text_without_advice_is_left_alone() -> None:
    assert for_command("partial=True, 'metrics' and [names]") == "partial=True, 'metrics' and [names]"


def test_missing_rows(primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str]) -> None:
    file = table(tmp_path, "ids,label", [f"{i},{classes[0]}" for i in ids[:-5]])
    ran = primabench(*EVALUATE, "--predictions", file)
    assert ran.code == 2
    assert "add --partial" in ran.err
    assert "partial=True" not in ran.err
    assert primabench(*EVALUATE, "--predictions", file, "--partial").code == 0
    run = pb.Evaluation(TASK, dataset=SYNTHETIC)
    run.update(ids=ids[:3], label=classes[:1] * 3)
    with pytest.raises(pb.CoverageError, match=r"Evaluation\(…, partial=True\)"):
        run.compute()


def test_missing_rows_of_one_of_many_files(
    primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str]
) -> None:
    good = table(tmp_path, "ids,label", [f"{i},{classes[0]}" for i in ids], "good.csv")
    bad = table(tmp_path, "ids,label", [f"{i},{classes[0]}" for i in ids[:-1]], "bad.csv")
    ran = primabench(*EVALUATE, "--predictions", good, "--predictions", bad)
    assert ran.code == 1
    assert "add --partial" in " ".join(ran.err.split())
    assert "partial=True" not in ran.err


def test_rows_that_come_again(primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str]) -> None:
    file = table(tmp_path, "ids,label", [f"{i},{classes[0]}" for i in [*ids, ids[0]]])
    ran = primabench(*EVALUATE, "--predictions", file)
    assert ran.code == 2
    assert "--duplicates drop_identical" in ran.err
    assert "duplicates=" not in ran.err
    assert primabench(*EVALUATE, "--predictions", file, "--duplicates", "drop_identical").code == 0
    folder = ["--results", "kept"]
    assert primabench(*EVALUATE, "--predictions", file, *folder).code == 0
    assert primabench(*EVALUATE, "--predictions", file, *folder, "--duplicates", "refuse").code == 1


def test_no_training_data(primabench: Callable, store: Path, tmp_path: Path) -> None:
    from primabench_core.discovery import registry
    from primabench_core.store.build import build_dataset

    pytest.importorskip("primabench_task_protein", reason="a task without training data")
    key = registry.load("task", "fitness_prediction").synthetic_dataset
    place = str(tmp_path / "other")
    build_dataset(key, store=place)
    ran = primabench("fetch", "--task", "fitness_prediction", "--dataset", key, "--store", place)
    assert ran.code == 2, ran.out
    assert f"primabench fetch --test-only --task fitness_prediction --dataset {key}" in ran.err
    assert "pb." not in ran.err
    asked = ["fetch", "--test-only", "--task", "fitness_prediction", "--dataset", key, "--store", place, "--json"]
    assert set(json.loads(primabench(*asked).out)) == {"test"}


# -- no rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--results", "kept"]])
def test_a_header_alone_has_no_rows(primabench: Callable, tmp_path: Path, ids: list[str], more: list[str]) -> None:
    ran = primabench(*EVALUATE, "--predictions", table(tmp_path, "ids,label", []), *more)
    assert ran.code in (1, 2)
    assert "no rows" in ran.err
    assert "Next: " in ran.err
    assert ids[0] not in ran.err


# -- columns --------------------------------------------------------------------------------------------------------


@pytest.fixture
def extra(tmp_path: Path, ids: list[str], classes: list[str]) -> str:
    rows = [f"A{k},{i},{classes[k % 2]},{k / 7}" for k, i in enumerate(ids)]
    return table(tmp_path, "mutant,cell,predicted,a b", rows)


MEANT = ["--map", "ids=cell", "--map", "label=predicted"]


def test_columns_that_nobody_asks_for_are_named_with_the_option_that_leaves_them_out(
    primabench: Callable, extra: str
) -> None:
    ran = primabench(*EVALUATE, "--predictions", extra, *MEANT)
    assert ran.code == 2
    assert "--ignore mutant" in ran.err
    assert "--ignore 'a b'" in ran.err
    assert "Next: --ignore '*' " in ran.err


@pytest.mark.parametrize("ignored", [["*"], ["mutant", "a b"], ["mutant", "*"]])
def test_ignored_columns_change_no_score(
    primabench: Callable, tmp_path: Path, extra: str, ids: list[str], classes: list[str], ignored: list[str]
) -> None:
    options = [word for name in ignored for word in ("--ignore", name)]
    plain = table(tmp_path, "ids,label", [f"{i},{classes[k % 2]}" for k, i in enumerate(ids)], "plain.csv")
    wanted = json.loads(primabench(*EVALUATE, "--predictions", plain, "--json").out)["scores_hash"]
    ran = primabench(*EVALUATE, "--predictions", extra, *MEANT, *options, "--json", "--output", "r.json")
    assert json.loads(ran.out)["scores_hash"] == wanted
    assert primabench("verify", "r.json", "--predictions", extra, *MEANT, *options).code == 0
    many = primabench(*EVALUATE, "--predictions", extra, *MEANT, *options, "--results", "kept", "--json")
    assert json.loads(many.out)["p"]["scores_hash"] == wanted


@pytest.mark.parametrize(
    "asked", [["--map", "label=foo", "--map", "ids=cell"], ["--map", "label=predicted", "--ignore", "foo"]]
)
def test_a_column_that_is_not_there_is_told_with_all_that_are(
    primabench: Callable, extra: str, asked: list[str]
) -> None:
    ran = primabench(*EVALUATE, "--predictions", extra, *asked)
    assert ran.code == 2
    assert "'mutant', 'cell', 'predicted', 'a b'" in ran.err
    assert "Next: " in ran.err


def test_compare_and_report_leave_columns_out_too(primabench: Callable, extra: str) -> None:
    options = [*MEANT, "--ignore", "*"]
    for name, more in (("a", []), ("b", ["--label", "model_name=b"])):
        asked = [*EVALUATE, "--predictions", extra, *options, "--output", f"{name}.json"]
        assert primabench(*asked, *more).code == 0
    compared = primabench("compare", "a.json", "b.json", "--predictions", extra, extra, *options, "--draws", "200")
    assert compared.code == 0, compared.err
    reported = primabench("report", "a.json", "-o", "r.html", "--predictions", extra, *options)
    assert reported.code == 0, reported.err


def test_a_column_has_one_role(primabench: Callable, extra: str) -> None:
    ran = primabench(*EVALUATE, "--predictions", extra, *MEANT, "--ignore", "cell")
    assert ran.code == 2
    assert "'cell' is to be read and to be ignored" in ran.err


# -- fields of several columns --------------------------------------------------------------------------------------

PROBABILITIES = [*EVALUATE, "--metrics", "log_loss", "--json", "--predictions"]


@pytest.fixture
def shares(ids: list[str], classes: list[str]) -> list[list[float]]:
    """A distribution over the classes for each row; sixteenths, which sum to 1 exactly."""
    return [[(1 + 12 * (j == k % len(classes))) / 16 for j in range(len(classes))] for k in range(len(ids))]


def test_columns_by_class_are_those_by_number_in_any_order(
    primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str], shares: list[list[float]]
) -> None:
    assert len(classes) == 4
    hashes = set()
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        header = ",".join(["ids", "label", *(f"probability_{classes[j]}" for j in order)])
        rows = [",".join([i, classes[0], *(str(row[j]) for j in order)]) for i, row in zip(ids, shares, strict=True)]
        hashes.add(json.loads(primabench(*PROBABILITIES, table(tmp_path, header, rows)).out)["scores_hash"])
    header = "ids,label,probability_0,probability_1,probability_2,probability_3"
    rows = [",".join([i, classes[0], *map(str, row)]) for i, row in zip(ids, shares, strict=True)]
    hashes.add(json.loads(primabench(*PROBABILITIES, table(tmp_path, header, rows)).out)["scores_hash"])
    assert len(hashes) == 1


def test_one_number_for_a_row_of_them_is_told_what_to_write(
    primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str]
) -> None:
    ran = primabench(*PROBABILITIES, table(tmp_path, "ids,label,probability", [f"{i},x,1.0" for i in ids]))
    assert ran.code == 2
    assert "probability_0 … probability_3" in ran.err
    assert f"0 is {classes[0]}, 1 is {classes[1]}" in ran.err
    assert f"probability_{classes[0]}" in ran.err


def test_some_classes_alone_name_the_others(
    primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str]
) -> None:
    header = f"ids,label,probability_{classes[0]}"
    ran = primabench(*PROBABILITIES, table(tmp_path, header, [f"{i},x,1.0" for i in ids]))
    assert ran.code == 2
    assert "missing classes in 3 names" in ran.err
    assert "Did you mean" not in ran.err


def test_numbered_columns_of_another_name_are_asked_what_they_are(
    primabench: Callable, tmp_path: Path, ids: list[str]
) -> None:
    ran = primabench(*PROBABILITIES, table(tmp_path, "ids,p0,p1,p2,p3", [f"{i},1,0,0,0" for i in ids]))
    assert ran.code == 2
    assert "Call it 'probability_3'" in ran.err
    assert "Write columns probability_0 … probability_3" in ran.err


@pytest.mark.parametrize(
    ("name", "said"),
    [("p.csv", "columns embedding_0 … embedding_7"), ("p.parquet", "or one column of lists"), ("p.npz", "a 2-D array")],
)
def test_a_layout_is_that_of_the_file(name: str, said: str) -> None:
    from primabench_core.contract.check import Context
    from primabench_core.contract.fields import Field
    from primabench_core.evaluation.layouts import layout

    assert said in layout(Field("embedding", "embedding"), name, Context(), width=8)
    hidden = Context(coords={"classes": ("secret", "other")}, hidden=("classes",))
    assert "secret" not in layout(Field("probability", "probability", coord="classes"), name, hidden)


# -- which metrics --------------------------------------------------------------------------------------------------


def test_metrics_that_can_read_the_file_are_named(primabench: Callable, tmp_path: Path) -> None:
    pytest.importorskip("primabench_task_genome", reason="a task whose metrics read different fields")
    from primabench_core.discovery import registry
    from primabench_core.store.build import build_dataset

    task = "sequence_classification"
    key, place = registry.load("task", task).synthetic_dataset, str(tmp_path / "other")
    build_dataset(key, store=place)
    ids = pb.load(pb.fetch_test(task, dataset=key, store=place)).ids
    file = table(tmp_path, "ids,embedding_0,embedding_1", [f"{i},{k % 7},{k % 5}" for k, i in enumerate(ids)])
    ran = primabench("evaluate", "--task", task, "--dataset", key, "--store", place, "--predictions", file)
    assert ran.code == 2
    assert "Next: add --metrics linear_probe" in ran.err
    with pytest.raises(pb.ContractError, match=r"pass metrics=\['linear_probe'\]"):
        pb.evaluate(task, file, dataset=key, store=place)


# -- codes and names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "npz"])
def test_codes_are_refused_where_classes_have_names(
    primabench: Callable, tmp_path: Path, ids: list[str], classes: list[str], suffix: str
) -> None:
    import numpy as np

    codes = [str(k % 2) for k in range(len(ids))]
    file = table(tmp_path, "ids,label", [f"{i},{c}" for i, c in zip(ids, codes, strict=True)])
    if suffix == "npz":
        file = str(tmp_path / "p.npz")
        np.savez(file, ids=ids, label=codes)
    ran = primabench(*EVALUATE, "--predictions", file)
    assert ran.code == 2
    assert "Codes are not names" in ran.err
    assert "'0', '1'" in ran.err
    assert f"in {len(ids)} rows" in ran.err
    assert any(repr(name) in ran.err for name in classes)
    run = pb.Evaluation(TASK, dataset=SYNTHETIC)
    run.update(ids=ids[:20], label=codes[:20])  # whatever the cut
    run.update(ids=ids[20:], label=codes[20:])
    with pytest.raises(pb.ContractError, match="Codes are not names"):
        run.compute()


def test_one_name_that_is_a_class_and_codes_count_as_errors(ids: list[str], classes: list[str]) -> None:
    labels = [classes[0], *["1"] * (len(ids) - 1)]
    result = pb.evaluate(TASK, {"ids": ids, "label": labels}, dataset=SYNTHETIC, ci=None)
    assert result["accuracy"].values["n_unknown_labels"] == len(ids) - 1


@pytest.mark.parametrize(
    ("predicted", "truth"), [(["1", "2"], ["1.5", "3"]), (["-1", "+1"], ["+2", "x"]), (["NK", "7"], ["B", "T"])]
)
def test_numbers_as_names_of_classes_are_no_codes(predicted: list[str], truth: list[str]) -> None:
    assert pb.score("accuracy", {"label": predicted}, {"label": truth}).value == 0.0


def test_private_classes_are_not_told() -> None:
    from types import SimpleNamespace

    import numpy as np

    from primabench_core.contract.vocabulary import Vocabulary
    from primabench_core.evaluation.codes import refuse_codes
    from primabench_core.state.rows import Labels

    vocabulary = Vocabulary(["secret", "silent"])
    codes = vocabulary.encode(np.array(["0", "1", "0"], object))
    columns = {"label": Labels(codes, vocabulary.classes)}
    for hidden in ((), ("classes",)):
        intake = SimpleNamespace(vocabularies={"label": vocabulary}, hidden=hidden)
        with pytest.raises(pb.ContractError, match="'0', '1'") as caught:
            refuse_codes(intake, columns)  # type: ignore[arg-type]
        assert ("secret" in str(caught.value)) == (not hidden)


def test_names_of_which_none_is_a_class_are_warned_of(primabench: Callable, tmp_path: Path, ids: list[str]) -> None:
    ran = primabench(*EVALUATE, "--predictions", table(tmp_path, "ids,label", [f"{i},made up" for i in ids]))
    assert ran.code == 0
    assert "WARNING: not one predicted label is a class of the data" in " ".join(ran.err.split())
    assert "note:" in ran.err


# -- tables where results are wanted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["compare", "a.csv", "a.csv"], ["verify", "a.csv"], ["report", "a.csv", "-o", "r.html"]]
)
def test_a_table_in_place_of_a_result_names_the_command_that_makes_results(
    primabench: Callable, tmp_path: Path, words: list[str]
) -> None:
    table(tmp_path, "ids,label", ["a,b"], "a.csv")
    ran = primabench(*words)
    assert ran.code == 2
    assert "Next: give results, not predictions: primabench evaluate --task TASK --predictions a.csv" in ran.err
    (tmp_path / "a.csv").write_bytes(b"\x93NUMPY\xff")
    assert "primabench evaluate" in primabench(*words).err
    (tmp_path / "a.csv").write_text('{"kind": ')
    assert "primabench evaluate" not in primabench(*words).err
