"""Card and recipe of ``replogle_2022_k562_essential``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "peidli_2024_nature_methods/replogle_2022_k562_essential@1.0.0"

AUDIT = AuditPlan(
    identity=["counts"],
    label="perturbation",
    groups=["perturbation"],
    public_truth="all cells stand in the file on Zenodo and in figshare 20029387",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Replogle 2022, CRISPRi of essential genes in K562",
    summary="K562 cells with one of about 2,000 essential genes silenced, and controls; raw counts.",
    publication=(
        "Peidli S et al. scPerturb: harmonized single-cell perturbation data. Nature Methods 21, 531-540 (2024)."
    ),
    doi="10.1038/s41592-023-02144-y",
    origin=(
        "Replogle JM et al. Mapping information-rich genotype-phenotype landscapes with genome-scale "
        "Perturb-seq. Cell 185, 2559 (2022), doi 10.1016/j.cell.2022.05.013"
    ),
    licence="CC-BY-4.0, as Zenodo 13350497 declares (to be verified at first fetch)",
    organism="Homo sapiens",
    modality="single-cell RNA-seq after perturbation",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41592-023-02144-y", "https://doi.org/10.1016/j.cell.2022.05.013"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.peidli_2024_nature_methods.replogle_2022_k562_essential.recipe:build",
    sources=(
        Source(
            name="ReplogleWeissman2022_K562_essential.h5ad",
            url="https://zenodo.org/records/13350497/files/ReplogleWeissman2022_K562_essential.h5ad?download=1",
            licence="CC-BY-4.0",
        ),
    ),
    audit=AUDITED_BY,
    curator=CURATOR,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
