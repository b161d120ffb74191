"""Card and recipe of ``wisconsin_diagnostic``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "pedregosa_2011_journal_of_machine_learning_research/wisconsin_diagnostic@1.0.0"

AUDIT = AuditPlan(
    identity=["features"],
    label="label",
    public_truth="it stands in scikit-learn and at the UCI repository",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Wisconsin diagnostic breast cancer",
    summary="569 fine-needle aspirates, 30 measures of cell nuclei, malignant or benign; ships with scikit-learn.",
    publication=(
        "Pedregosa F et al. Scikit-learn: Machine Learning in Python. "
        "Journal of Machine Learning Research 12, 2825-2830 (2011)."
    ),
    origin=(
        "Street WN, Wolberg WH, Mangasarian OL. Nuclear feature extraction for breast tumor diagnosis. "
        "Proceedings of SPIE 1905, 861 (1993), doi 10.1117/12.148698; UCI data set 17, doi 10.24432/C5DW2B"
    ),
    licence="CC-BY-4.0 (UCI); shipped in scikit-learn, BSD-3-Clause",
    organism="Homo sapiens",
    modality="image-derived measures",
    n_units=569,
    content_hash="476947b4382d83d4da241916d84a77f8080e1a0d56740f3ea1e5801111b7771b",
    notes=notes_of(__file__),
    citation_urls=("https://jmlr.org/papers/v12/pedregosa11a.html", "https://doi.org/10.24432/C5DW2B"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.pedregosa_2011_journal_of_machine_learning_research.wisconsin_diagnostic.recipe:build",
    sources=(
        Source(
            name="breast_cancer.csv",
            package="scikit-learn:sklearn/datasets/data/breast_cancer.csv",
            sha256="fed3eb72d0575ef6192293f5093c6e801b1476b577d0386bf4455504522172ed",
            licence="CC-BY-4.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("scikit-learn",),
)
