"""Card and recipe of ``norman_2019``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "peidli_2024_nature_methods/norman_2019@1.0.0"

AUDIT = AuditPlan(
    identity=["counts"],
    label="n_perturbed",
    groups=["perturbation"],
    public_truth="all cells stand in the file on Zenodo and in GEO (GSE133344)",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Norman 2019, CRISPRa of genes and pairs",
    summary="K562 cells with one gene or a pair of genes activated, and controls; raw counts.",
    publication=(
        "Peidli S et al. scPerturb: harmonized single-cell perturbation data. Nature Methods 21, 531-540 (2024)."
    ),
    doi="10.1038/s41592-023-02144-y",
    origin=(
        "Norman TM et al. Exploring genetic interaction manifolds constructed from rich single-cell phenotypes. "
        "Science 365, 786 (2019), doi 10.1126/science.aax4438; GEO GSE133344"
    ),
    licence="CC-BY-4.0, as Zenodo 13350497 declares (to be verified at first fetch)",
    organism="Homo sapiens",
    modality="single-cell RNA-seq after perturbation",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41592-023-02144-y", "https://doi.org/10.1126/science.aax4438"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.peidli_2024_nature_methods.norman_2019.recipe:build",
    sources=(
        Source(
            name="NormanWeissman2019_filtered.h5ad",
            url="https://zenodo.org/records/13350497/files/NormanWeissman2019_filtered.h5ad?download=1",
            licence="CC-BY-4.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
