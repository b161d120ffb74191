"""The command with several files and with schedulers, TLS included."""

from __future__ import annotations

import json

import pytest

import primabench_core as pb
from primabench_core.cli.main import main
from primabench_core.errors import DistributedError, StoreError, UsageError
from primabench_core.evaluation.launch import connect


@pytest.fixture
def command(crowd, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments):
        capsys.readouterr()
        code = main(["evaluate", "--task", "crowd", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_command_on_a_scheduler(client, command, stored, expected, tmp_path):
    address = client.scheduler.address
    code, out, err = command("--predictions", stored, "--scheduler", address, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["model"]["scores_hash"] == expected.scores_hash
    gone = tmp_path / "gone.zarr"
    results = tmp_path / "results"
    ask = ("--predictions", stored, "--predictions", gone, "--scheduler", address, "--results", results)
    code, out, err = command(*ask)
    assert code == 1
    assert "1 of 2 evaluated" in out
    assert f"{expected.scores['accuracy']:.4f}" in out
    assert "gone failed: MissingDataError" in err
    assert len(list(results.iterdir())) == 1
    code, _, err = command("--predictions", stored, "--scheduler", address, "--resources", "GPU=1")
    assert code == 2
    assert "No worker" in err


def test_the_command_with_several_files_and_no_scheduler(command, stored, expected, tmp_path):
    csv = tmp_path / "model.csv"
    pb.EvalData({"label": ["ant"]}, ids=["unit0000"]).to_pandas().to_csv(csv)
    code, out, _ = command("--predictions", stored, "--predictions", csv, "--partial", "--json", "--ci", "none")
    found = json.loads(out)
    assert code == 0
    assert set(found) == {stored, str(csv)}  # both are called model
    assert found[stored]["results"][0]["value"] == expected.scores["accuracy"]
    code, _, err = command("--predictions", stored, "--results", tmp_path / "r", "--require", "accuracy>=0.9")
    assert code == 1
    assert "required accuracy>=0.9" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--predictions", "a", "--predictions", "a"), "twice"),
        (("--predictions", "a", "--predictions", "b", "--output", "r.json"), "--results"),
        (("--baseline", "x", "--scheduler", "local"), "--predictions"),
        (("--predictions", "a", "--predictions", "b", "--resources", "GPU=1"), "--scheduler"),
        (("--predictions", "a", "--scheduler", "tcp://127.0.0.1:9", "--resources", "GPU"), "NAME=NUMBER"),
        (("--predictions", "a", "--scheduler", "local", "--tls-ca", "x"), ""),
    ],
)
def test_what_the_command_refuses(command, arguments, said):
    if "--tls-ca" in arguments:
        arguments = ("--predictions", "a", "--scheduler", "tls://127.0.0.1:9", "--tls-ca", "x")
        said = "three files"
    code, _, err = command(*arguments)
    assert code == 2
    assert said in err


def test_nobody_at_the_address():
    with pytest.raises(DistributedError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):  # noqa: SIM117
        with connect("tcp://127.0.0.1:9", timeout=1.0):
            pass
    with pytest.raises(StoreError, match="no such file"), connect("tls://x:1", tls_ca="a", tls_cert="b", tls_key="c"):
        pass
    with pytest.raises(UsageError, match="three files"), connect("tls://x:1", tls_ca="a"):
        pass


def test_an_existing_scheduler_with_tls(crowd, stored, expected, tmp_path):
    pytest.importorskip("cryptography", reason="a certificate for the test is made by cryptography")
    from distributed import Security

    from primabench_core.evaluation.launch import start

    security = Security.temporary()
    files = {}
    for name, text in {
        "tls_ca": security.tls_ca_file,
        "tls_cert": security.tls_client_cert,
        "tls_key": security.tls_client_key,
    }.items():
        files[name] = str(tmp_path / f"{name}.pem")
        (tmp_path / f"{name}.pem").write_text(text)
    with start(1, security=security) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with connect(address, **files) as client:
            found = pb.evaluate_many({"a": stored}, "crowd", client=client, progress=False)
        assert found["a"].scores_hash == expected.scores_hash
        with pytest.raises(DistributedError), connect(address, timeout=2.0):
            pass


def test_workers_on_this_machine_and_their_resources(crowd, stored, expected):
    from distributed import Client

    from primabench_core.evaluation.launch import start

    with start(1, resources={"GPU": 1}) as cluster, Client(cluster, set_as_default=False) as client:
        found = pb.evaluate_many(
            {"a": stored}, "crowd", client=client, resources={"GPU": 1}, partition_rows=300, progress=False
        )
        assert found["a"].scores_hash == expected.scores_hash
        with pytest.raises(UsageError, match="1 workers have GPU=1"):
            pb.evaluate_many({"a": stored}, "crowd", client=client, resources={"GPU": 2})
