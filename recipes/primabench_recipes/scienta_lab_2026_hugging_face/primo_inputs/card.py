"""Card and recipe of ``primo_inputs``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "scienta_lab_2026_hugging_face/primo_inputs@1.0.0"
HOST = "https://huggingface.co/datasets/ScientaLab/primo/resolve/main"
LICENCE = "other: each data set keeps the open licence of its source (Hugging Face, ScientaLab/primo)"

AUDIT = AuditPlan(public_truth="labels are not published; cohorts can be matched to public archives")

COHORTS = tuple(f"d{number:03d}" for number in range(1, 11))

DATASET = DatasetSpec(
    key=KEY,
    title="PRIMO inputs",
    summary="Raw bulk RNA-seq counts of ten unnamed cohorts; inputs of the PRIMO benchmark, without labels.",
    publication="Scienta Lab. PRIMO benchmark inputs. Hugging Face, ScientaLab/primo (2026).",
    origin="public cohorts of immune-mediated diseases that the publisher does not name",
    licence=LICENCE,
    organism="Homo sapiens",
    modality="bulk RNA-seq",
    notes=notes_of(__file__),
    citation_urls=("https://huggingface.co/datasets/ScientaLab/primo",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.scienta_lab_2026_hugging_face.primo_inputs.recipe:build",
    sources=(
        Source(name="datasets.yaml", url=f"{HOST}/datasets.yaml", licence=LICENCE),
        *(Source(name=f"{name}.h5ad", url=f"{HOST}/{name}/expression.h5ad", licence=LICENCE) for name in COHORTS),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy", "pyyaml"),
)
