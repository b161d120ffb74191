"""Card and recipe of ``ocelot``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

PUBLICATION = "ryu_2023_conference_on_computer_vision_and_pattern_recognition"
KEY = f"{PUBLICATION}/ocelot@1.0.0"
LICENCE = "CC-BY-NC-SA-4.0; not to be passed on"

AUDIT = AuditPlan(label="cells", groups=["image"], public_truth="annotations of all splits stand in the archive")

DATASET = DatasetSpec(
    key=KEY,
    title="OCELOT cells",
    summary="Points of background and tumour cells in patches of six organs; train, val and test by the source.",
    publication=(
        "Ryu J et al. OCELOT: Overlapped Cell on Tissue Dataset for Histopathology. Conference on Computer Vision and "
        "Pattern Recognition, 23902-23912 (2023)."
    ),
    doi="10.1109/CVPR52729.2023.02289",
    origin="slides of TCGA",
    licence=LICENCE,
    organism="Homo sapiens",
    modality="histopathology",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.5281/zenodo.8417503",),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build=f"primabench_recipes.{PUBLICATION}.ocelot.recipe:build",
    sources=(
        Source(
            name="ocelot",
            url="https://zenodo.org/records/8417503",
            files=("annotations/*/cell/*.csv",),
            licence=LICENCE,
            public=False,
            redistribute=False,
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
