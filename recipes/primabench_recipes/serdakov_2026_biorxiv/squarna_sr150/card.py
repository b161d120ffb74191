"""Card and recipe of ``squarna_sr150``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "serdakov_2026_biorxiv/squarna_sr150@1.0.0"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="pairs",
    groups=["entry"],
    near="sequence",
    k=8,
    public_truth="it stands in the package and in the PDB",
)

DATASET = DatasetSpec(
    key=KEY,
    title="SQUARNA SRtrain150 and SRtest150",
    summary="485 RNA chains of at most 150 bases with pseudoknots, split by the source; ships with SQUARNA.",
    publication=(
        "Serdakov MD, Bohdan DR, Nikolaev GI, Bujnicki JM, Baulin EF. Revisiting the base pair maximization approach "
        "for RNA secondary structure prediction with SQUARNA. bioRxiv (2026)."
    ),
    doi="10.64898/2026.06.30.735492",
    origin="Protein Data Bank entries, named in the headers",
    licence="Apache-2.0, as files of SQUARNA; entries of the PDB are CC0-1.0",
    modality="RNA secondary structure",
    n_units=485,
    content_hash="1af9cbf18e7bb00a5fe19585f3b40ee51cb399c1d9d8d798ded4c608ca595de5",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.64898/2026.06.30.735492",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.serdakov_2026_biorxiv.squarna_sr150.recipe:build",
    sources=(
        Source(
            name="train.fas",
            package="SQUARNA:SQUARNA/datasets/SRtrain150.fas",
            sha256="4d35bc7ffab519bf551fc211ade3af7f48e8c6ddfdd07e169cbb130b1f2335ed",
            licence="Apache-2.0",
        ),
        Source(
            name="test.fas",
            package="SQUARNA:SQUARNA/datasets/SRtest150.fas",
            sha256="0847d36dd04e62edf47b11bafb62261431f5e6fb4279bd329c56a545ced152d8",
            licence="Apache-2.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("SQUARNA",),
)
