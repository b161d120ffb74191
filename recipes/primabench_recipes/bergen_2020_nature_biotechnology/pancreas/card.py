"""Card and recipe of ``pancreas``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "bergen_2020_nature_biotechnology/pancreas@1.0.0"

AUDIT = AuditPlan(identity=["spliced"], label="label", public_truth="stages stand in the file on GitHub")

DATASET = DatasetSpec(
    key=KEY,
    title="Pancreatic endocrinogenesis, day 15.5",
    summary="3,696 mouse pancreas cells with spliced and unspliced counts and 8 annotated stages.",
    publication=(
        "Bergen V, Lange M, Peidli S, Wolf FA, Theis FJ. Generalizing RNA velocity to transient cell states through "
        "dynamical modeling. Nature Biotechnology 38, 1408-1414 (2020)."
    ),
    doi="10.1038/s41587-020-0591-3",
    origin=(
        "Bastidas-Ponce A et al. Comprehensive single cell mRNA profiling reveals a detailed roadmap for pancreatic "
        "endocrinogenesis. Development 146, dev173849 (2019), doi 10.1242/dev.173849; GEO GSE132188"
    ),
    licence="BSD-3-Clause, as the repository declares (to be verified at first fetch)",
    organism="Mus musculus",
    modality="single-cell RNA-seq, spliced and unspliced",
    n_units=3696,
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1038/s41587-020-0591-3", "https://doi.org/10.1242/dev.173849"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.bergen_2020_nature_biotechnology.pancreas.recipe:build",
    sources=(
        Source(
            name="endocrinogenesis_day15.h5ad",
            url="https://github.com/theislab/scvelo_notebooks/raw/master/data/Pancreas/endocrinogenesis_day15.h5ad",
            licence="BSD-3-Clause",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("anndata", "scipy"),
)
