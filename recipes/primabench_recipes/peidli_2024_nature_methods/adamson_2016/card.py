"""Card and recipe of ``adamson_2016``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "peidli_2024_nature_methods/adamson_2016@1.0.0"

AUDIT = AuditPlan(
    identity=["counts"],
    label="perturbation",
    groups=["perturbation"],
    public_truth="all cells stand in the file on Zenodo and in GSE90546",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Adamson 2016, CRISPRi of the unfolded protein response",
    summary="K562 cells with one gene of the unfolded protein response silenced, and controls; raw counts.",
    publication=(
        "Peidli S et al. scPerturb: harmonized single-cell perturbation data. Nature Methods 21, 531-540 (2024)."
    ),
    doi="10.1038/s41592-023-02144-y",
    origin=(
        "Adamson B et al. A multiplexed single-cell CRISPR screening platform enables systematic "
        "dissection of the unfolded protein response. Cell 167, 1867 (2016), doi "
        "10.1016/j.cell.2016.11.048; GEO GSE90546 (10X010)"
    ),
    licence="CC-BY-4.0, as Zenodo 13350497 declares (to be verified at first fetch)",
    organism="Homo sapiens",
    modality="single-cell RNA-seq after perturbation",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41592-023-02144-y", "https://doi.org/10.1016/j.cell.2016.11.048"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.peidli_2024_nature_methods.adamson_2016.recipe:build",
    sources=(
        Source(
            name="AdamsonWeissman2016_GSM2406681_10X010.h5ad",
            url="https://zenodo.org/records/13350497/files/AdamsonWeissman2016_GSM2406681_10X010.h5ad?download=1",
            licence="CC-BY-4.0",
        ),
    ),
    audit=AUDITED_BY,
    curator=CURATOR,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
