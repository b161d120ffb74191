"""Card and recipe of ``pancreas_human_mouse``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, notes_of

KEY = "baron_2016_cell_systems/pancreas_human_mouse@1.0.0"
GEO = "https://ftp.ncbi.nlm.nih.gov/geo/samples/GSM2230nnn"
LICENCE = "GEO sets no restriction on use; the submitters stated none (to be verified at first fetch)"

FILES = {
    "human1.csv.gz": "GSM2230757",
    "human2.csv.gz": "GSM2230758",
    "human3.csv.gz": "GSM2230759",
    "human4.csv.gz": "GSM2230760",
    "mouse1.csv.gz": "GSM2230761",
    "mouse2.csv.gz": "GSM2230762",
}
"""Name of a source, which is that of a donor -> its sample in GEO."""

AUDIT = AuditPlan(
    identity=["counts"],
    label="label",
    groups=["species", "donor"],
    public_truth="types stand in the files of GEO (GSE84133)",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Human and mouse pancreas",
    summary="8,569 cells of four humans and 1,886 of two mice, genes of each species by name, types named alike.",
    publication=(
        "Baron M, Veres A, Wolock SL et al. A single-cell transcriptomic map of the human and mouse pancreas reveals "
        "inter- and intra-cell population structure. Cell Systems 3(4), 346-360 (2016)."
    ),
    doi="10.1016/j.cels.2016.08.011",
    origin="GEO GSE84133, samples GSM2230757 to GSM2230762",
    licence=LICENCE,
    organism="Homo sapiens, Mus musculus",
    modality="single-cell RNA-seq (inDrop)",
    n_units=10455,
    notes=notes_of(__file__),
    citation_urls=(
        "https://doi.org/10.1016/j.cels.2016.08.011",
        "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE84133",
    ),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.baron_2016_cell_systems.pancreas_human_mouse.recipe:build",
    sources=tuple(
        Source(
            name=name,
            url=f"{GEO}/{sample}/suppl/{sample}_{name.partition('.')[0]}_umifm_counts.csv.gz",
            licence=LICENCE,
        )
        for name, sample in FILES.items()
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
    requires=("scipy",),
)
