"""Checks of dataset cards and of the recipes that build them."""

from __future__ import annotations

import contextlib
import datetime
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

from primabench_core.discovery import names, registry
from primabench_core.errors import PrimaBenchError
from primabench_core.spec.dataset import DatasetKey
from primabench_core.testing.bench import refused
from primabench_core.testing.plugin_checks import in_a_process
from primabench_core.testing.report import CheckFailure, NotApplicable
from primabench_core.testing.subjects import DatasetSubject, RecipeSubject

if TYPE_CHECKING:
    pass

LATER = 400 * 86_400.0
"""Seconds by which the clock of a second run is put forward."""

_REBUILD = """
import sys
from primabench_core.store.build import build_dataset
print("hash", build_dataset(sys.argv[1], store=sys.argv[2]).content_hash)
"""


def check_versioned_key(subject: DatasetSubject) -> None:
    """Its key is ``publication/slug@version``; what was made stands under primabench_synthetic and nowhere else."""
    key = DatasetKey.parse(subject.spec.key)
    words = f"{subject.spec.title} {subject.spec.summary} {subject.spec.publication}".lower()
    if key.is_synthetic and not re.search(r"synthetic|made|simulat", words):
        raise CheckFailure("neither title nor summary says that the data are synthetic", remedy="say so in the summary")
    if not key.is_synthetic and not re.match(r"[a-z0-9]+(_[a-z0-9]+)*_(18|19|20)\d\d_[a-z0-9_]+$", key.publication):
        raise CheckFailure(
            f"the publication {key.publication!r} is not {{first author}}_{{year}}_{{journal in full}}",
            remedy="name it like wolf_2018_genome_biology, or primabench_synthetic for made data",
        )


def check_says_where_from(subject: DatasetSubject) -> None:
    """The card names a licence and a publication, with a DOI or an address where the data were measured."""
    spec = subject.spec
    missing = [name for name in ("title", "summary", "publication", "licence") if not getattr(spec, name).strip()]
    if not spec.is_synthetic and not spec.doi and not spec.citation_urls:
        missing.append("doi")
    if missing:
        raise CheckFailure(f"the card does not say its {', '.join(missing)}")


def check_builds_to_pinned_hash(subject: DatasetSubject) -> None:
    """The card pins a content hash, and a build of its recipe reaches it.

    A recipe that needs a network, or a package that is absent, cannot be built here: the hash of its data is pinned by
    whoever fetches them first.
    """
    from primabench_core.discovery import names

    spec = subject.spec
    try:
        found = subject.bench.build(spec.key).content_hash
    except NotApplicable as error:
        if not spec.content_hash and spec.key not in names.names("recipe"):
            raise CheckFailure(f"the card pins no content hash ({error})") from error
        raise
    except PrimaBenchError as error:
        raise refused("the build failed", error) from error
    if not spec.content_hash:
        raise CheckFailure(
            "the card pins no content hash, so nobody can tell whether a build is the right one",
            remedy=f'content_hash="{found}"',
        )
    if found != spec.content_hash:
        raise CheckFailure(
            f"a build has content hash {found}, the card pins {spec.content_hash}",
            remedy=f"for what is not published: primabench check {subject.distribution} --pin",
        )


def check_units_are_those_of_the_data(subject: DatasetSubject) -> None:
    """The number of units on the card is that of the rows of all splits, or of the units that one of its tasks scores.

    Views of one split hold the same rows and count once.
    """
    spec = subject.spec
    if spec.n_units is None:
        raise NotApplicable("its card gives no number of units")
    try:
        manifest = subject.bench.build(spec.key)
    except PrimaBenchError as error:
        raise NotApplicable(f"it does not build: {error.message}") from error
    largest: dict[str, int] = {}
    for entry in manifest.artifacts:
        largest[entry.split] = max(entry.n, largest.get(entry.split, 0))
    counts = {"all rows": sum(largest.values())}
    for task, _, key in (name.partition("|") for name in names.names("preparer")):
        if key == spec.key and spec.n_units not in counts.values():
            with contextlib.suppress(PrimaBenchError, NotApplicable):  # checks of the preparer say what is wrong
                subject.bench.prepare(task, key)
                counts[f"scored by {task}"] = subject.bench.solution(task, key).n
    if spec.n_units not in counts.values():
        found = ", ".join(f"{n:,} {what}" for what, n in counts.items())
        raise CheckFailure(
            f"the card says {spec.n_units:,} units, the data have {found}", remedy=f"n_units={counts['all rows']}"
        )


def check_rebuilds_to_the_same_hash(subject: RecipeSubject) -> None:
    """A second build, in another process with another hash seed, has the same content hash."""
    key = subject.spec.dataset
    first = _built(subject)
    with TemporaryDirectory(prefix="primabench-rebuild-") as folder:
        said = in_a_process(_REBUILD, key, folder, PYTHONHASHSEED="12345")
    second = said.rpartition(" ")[2]
    if first != second:
        raise CheckFailure(
            f"two builds differ: {first} and {second}",
            remedy="sort what comes out of sets and folders, seed every draw, write no time and no host",
        )


def _built(subject: RecipeSubject) -> str:
    try:
        return subject.bench.build(subject.spec.dataset).content_hash
    except PrimaBenchError as error:
        raise refused("the build failed", error) from error


def check_no_timestamps(subject: RecipeSubject) -> None:
    """A run with the clock put forward by more than a year makes the same artifacts, and none holds the time of now."""
    from primabench_core.store.build import BuildContext

    _built(subject)  # says what is missing
    function = registry.resolve(subject.spec.build, owner=subject.distribution)
    package = names.split_target(subject.spec.build)[0].partition(".")[0]
    with TemporaryDirectory(prefix="primabench-clock-") as folder:
        runs = []
        for name, seconds in (("now", 0.0), ("later", LATER)):
            workdir = Path(folder, name)
            workdir.mkdir()
            with shifted_clock(seconds, package):
                runs.append(
                    [(a.path, a.data.load(), dict(a.attributes)) for a in function(BuildContext(subject.spec, workdir))]
                )
    for (path, now, facts), (_, later, later_facts) in zip(*runs, strict=True):
        if facts != later_facts or now != later:
            raise CheckFailure(f"artifact {path} changes with the clock", remedy="leave the time out of stored bytes")
    for path, _, facts in runs[0]:
        for name, value in facts.items():
            if _is_about_now(value):
                raise CheckFailure(
                    f"attribute {name!r} of artifact {path} holds the time of the build: {value!r}",
                    remedy="leave the time out of stored bytes",
                )


def _is_about_now(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float | np.integer | np.floating):
        return any(abs(float(value) / scale - time.time()) < 86_400 for scale in (1.0, 1e3, 1e6, 1e9))
    today = datetime.date.today()
    return isinstance(value, str) and re.search(rf"{today:%Y-%m-%d}[T ]\d\d:\d\d", value) is not None


@contextlib.contextmanager
def shifted_clock(seconds: float, package: str) -> Iterator[None]:
    """Let the clock of :mod:`time` and :mod:`datetime` run ahead, also where a package imported their names before.

    Args:
        seconds: How far ahead; 0 leaves everything as it is.
        package: Top-level package in which names such as ``datetime`` or ``time`` are replaced.
    """
    if not seconds:
        yield
        return
    real = {name: getattr(time, name) for name in ("time", "time_ns", "localtime", "gmtime", "strftime", "ctime")}
    fakes: dict[Any, Any] = {
        real["time"]: lambda: real["time"]() + seconds,
        real["time_ns"]: lambda: real["time_ns"]() + int(seconds * 1e9),
        real["localtime"]: lambda *a: real["localtime"](*(a or (real["time"]() + seconds,))),
        real["gmtime"]: lambda *a: real["gmtime"](*(a or (real["time"]() + seconds,))),
        real["ctime"]: lambda *a: real["ctime"](*(a or (real["time"]() + seconds,))),
        real["strftime"]: lambda form, *a: real["strftime"](
            form, *(a or (real["localtime"](real["time"]() + seconds),))
        ),
        datetime.datetime: _later_datetime(seconds),
        datetime.date: _later_date(seconds),
    }
    own = [m for name, m in list(sys.modules.items()) if m is not None and name.partition(".")[0] == package]
    with contextlib.ExitStack() as stack:
        for module in (time, datetime, *own):
            for name, value in list(vars(module).items()):
                try:
                    fake = fakes.get(value)
                except TypeError:  # not hashable, so none of these
                    continue
                if fake is not None:
                    stack.enter_context(mock.patch.object(module, name, fake))
        yield


def _later_datetime(seconds: float) -> type[datetime.datetime]:
    class Later(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + datetime.timedelta(seconds=seconds)

        @classmethod
        def utcnow(cls) -> Any:
            return super().now(datetime.UTC).replace(tzinfo=None) + datetime.timedelta(seconds=seconds)

        @classmethod
        def today(cls) -> Any:
            return cls.now()

    return Later


def _later_date(seconds: float) -> type[datetime.date]:
    class Later(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return super().today() + datetime.timedelta(seconds=seconds)

    return Later
