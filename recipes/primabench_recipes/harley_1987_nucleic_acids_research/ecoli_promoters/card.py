"""Card and recipe of ``ecoli_promoters``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "harley_1987_nucleic_acids_research/ecoli_promoters@1.0.0"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    reverse_complement=True,
    near="sequence",
    public_truth="it stands in the file of the UCI repository",
)

DATASET = DatasetSpec(
    key=KEY,
    title="E. coli promoters (UCI)",
    summary="106 windows of 57 bases of E. coli, half of them promoters.",
    publication=(
        "Harley CB, Reynolds RP. Analysis of E. coli promoter sequences. Nucleic Acids Research 15, 2343-2361 (1987)."
    ),
    doi="10.1093/nar/15.5.2343",
    origin="UCI data set 67 (Towell, Shavlik, Noordewier 1990), doi 10.24432/C5S01D",
    licence="CC-BY-4.0",
    organism="Escherichia coli",
    modality="DNA sequence",
    n_units=106,
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/nar/15.5.2343", "https://doi.org/10.24432/C5S01D"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.harley_1987_nucleic_acids_research.ecoli_promoters.recipe:build",
    sources=(
        Source(
            name="promoters.zip",
            url="https://archive.ics.uci.edu/static/public/67/molecular+biology+promoter+gene+sequences.zip",
            licence="CC-BY-4.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
