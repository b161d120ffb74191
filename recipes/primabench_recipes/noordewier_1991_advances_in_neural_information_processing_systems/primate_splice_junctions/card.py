"""Card and recipe of ``primate_splice_junctions``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "noordewier_1991_advances_in_neural_information_processing_systems"
KEY = f"{PUBLICATION}/primate_splice_junctions@1.0.0"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    groups=["gene"],
    reverse_complement=True,
    near="sequence",
    public_truth="it stands in the file of the UCI repository",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Primate splice junctions (UCI)",
    summary="3,190 windows of 60 bases of primate genes: donor, acceptor or neither.",
    publication=(
        "Noordewier MO, Towell GG, Shavlik JW. Training knowledge-based neural networks to recognize genes in DNA "
        "sequences. Advances in Neural Information Processing Systems 3, 530-536 (1991)."
    ),
    doi="10.24432/C5M888",
    origin="GenBank 64.1",
    licence="CC-BY-4.0",
    organism="Primates",
    modality="DNA sequence",
    n_units=3190,
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.24432/C5M888",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build=f"primabench_recipes.{PUBLICATION}.primate_splice_junctions.recipe:build",
    sources=(
        Source(
            name="splice.zip",
            url=("https://archive.ics.uci.edu/static/public/69/molecular+biology+splice+junction+gene+sequences.zip"),
            licence="CC-BY-4.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
