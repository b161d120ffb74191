"""What a dataset, a split preparer and a recipe declare about themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import field, frozen

from primabench_core.spec.frozen import as_texts

KEY = re.compile(r"^(?P<publication>[a-z0-9_]+)/(?P<slug>[a-z0-9_]+)@(?P<version>\d+\.\d+\.\d+)$")
"""``publication/slug@version``."""

SYNTHETIC_PUBLICATION = "primabench_synthetic"


@frozen
class DatasetKey:
    """``publication/slug@version`` in its parts.

    Example:
        >>> DatasetKey.parse("wolf_2018_genome_biology/pbmc68k_reduced@1.0.0").slug
        'pbmc68k_reduced'
    """

    publication: str
    slug: str
    version: str

    @classmethod
    def parse(cls, text: str) -> DatasetKey:
        """Split a key.

        Raises:
            ValueError: the text is not of the form ``publication/slug@version``.
        """
        match = KEY.match(text)
        if match is None:
            raise ValueError(
                f"{text!r} is not a dataset key; expected publication/slug@version in lower case, "
                "such as wolf_2018_genome_biology/pbmc68k_reduced@1.0.0"
            )
        return cls(**match.groupdict())

    def __str__(self) -> str:
        return f"{self.publication}/{self.slug}@{self.version}"

    @property
    def is_synthetic(self) -> bool:
        """Whether the data were made, not measured."""
        return self.publication == SYNTHETIC_PUBLICATION


@frozen(kw_only=True)
class DatasetSpec:
    """The card of a dataset. Entry-point group ``primabench.datasets``, name = key."""

    key: str
    title: str
    summary: str
    publication: str
    """Full citation of the publication that the bytes were taken from."""
    doi: str = ""
    licence: str
    """SPDX identifier, or the terms in words."""
    organism: str = ""
    modality: str = ""
    n_units: int | None = None
    """Rows of all splits together; where rows are not what is scored, the number of units that a task scores."""
    content_hash: str = ""
    """Content hash that a rebuild must reach; empty only before the first build."""
    origin: str = ""
    """Where the data were measured first, if another publication than ``publication``."""
    notes: str = ""
    """Markdown for the card: caveats, where the truth is public, leak audit."""
    citation_urls: tuple[str, ...] = field(default=(), converter=as_texts)
    version: str = "1"
    api: int = 1

    @property
    def is_synthetic(self) -> bool:
        """Whether the data were made, not measured."""
        return DatasetKey.parse(self.key).is_synthetic


@frozen(kw_only=True)
class PreparerSpec:
    """How one task sees one dataset. Entry-point group ``primabench.preparers``, name ``task|key``.

    ``prepare`` is called as ``prepare(data)`` with a :class:`primabench_core.store.prepare.DatasetReader` and returns
    a :class:`primabench_core.store.prepare.Splits`.
    """

    task: str
    dataset: str
    prepare: str
    """``package.module:function``."""
    id_list: str = ""
    """``package:path/inside`` of the frozen id list (a text file: ``id<TAB>split``), empty if the recipe split."""
    id_list_sha256: str = ""
    """SHA-256 of that file; checked before use."""
    version: str = "1"
    summary: str = ""
    """How rows were split, for the card."""
    api: int = 1


@frozen(kw_only=True)
class Source:
    """One file that a recipe reads."""

    name: str
    url: str = ""
    """Public address; empty if the file is part of an installed package."""
    package: str = ""
    """``distribution:path/inside/site-packages`` of a file shipped in an installed package."""
    sha256: str = ""
    """Known checksum; empty if it is pinned at first fetch (see :mod:`primabench_core.store.pins`)."""
    equivalent: tuple[str, ...] = field(default=(), converter=as_texts)
    """Checksums of other encodings of the same content that packages have shipped; the salt follows from ``sha256``
    for all of them, so that they build the same dataset."""
    files: tuple[str, ...] = field(default=(), converter=as_texts)
    """Patterns of the files that count. They make this source a folder that the user brings (``--raw-root``), where a
    licence forbids more; ``url`` then says where to get it, and nothing is fetched."""
    licence: str = ""
    public: bool = True
    """Whether anybody can get these bytes (decides how the salt of the solution is drawn)."""
    redistribute: bool = True
    """Whether the licence lets what is made of these bytes be passed on; ``push`` refuses it otherwise."""


def _sources(value: Iterable[Source]) -> tuple[Source, ...]:
    return tuple(value)


@frozen(kw_only=True)
class RecipeSpec:
    """How a dataset is built. Entry-point group ``primabench.recipes``, name = key.

    ``build`` is called as ``build(context)`` with a :class:`primabench_core.store.build.BuildContext` and returns
    :class:`primabench_core.store.artifact.Artifact` values.
    """

    dataset: str
    build: str
    """``package.module:function``."""
    sources: tuple[Source, ...] = field(default=(), converter=_sources)
    version: str = "1"
    curator: str = ""
    history: tuple[str, ...] = field(default=(), converter=as_texts)
    """Curator history, oldest first: ``date name: what``."""
    requires: tuple[str, ...] = field(default=(), converter=as_texts)
    """Distributions needed to build, named in the install line when absent."""
    install: str = ""
    """The install line, where ``pip install`` of ``requires`` is not it."""
    audit: str = ""
    """``package.module:function``, called as ``audit(spec, artifacts)`` after a build: what of the test data a
    model may have met in training, as sentences that ``primabench build`` prints."""
    api: int = 1

    @property
    def is_bundled(self) -> bool:
        """Whether it builds without any network and without a folder that the user brings."""
        return all(not source.url and not source.files for source in self.sources)

    @property
    def install_line(self) -> str:
        """What to type when a distribution that it needs is absent."""
        return self.install or f"pip install {' '.join(self.requires)}"
