"""Card and recipe of ``guo_embryo``, importable without any array library."""

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

KEY = "angerer_2016_bioinformatics/guo_embryo@1.0.0"

AUDIT = AuditPlan(
    identity=["expression"],
    label="stage",
    groups=["embryo"],
    public_truth="the names of cells in the package give their stages, and so do the paper's tables",
)

DATASET = DatasetSpec(
    key=KEY,
    title="Mouse embryos from 2 to 64 cells, single-cell qPCR",
    summary="428 cells of mouse embryos before implantation, 48 genes by qPCR, with the cell number of each embryo.",
    publication=(
        "Angerer P, Haghverdi L, Buettner M, Theis FJ, Marr C, Buettner F. destiny: diffusion maps for large-scale "
        "single-cell data in R. Bioinformatics 32, 1241-1243 (2016)."
    ),
    doi="10.1093/bioinformatics/btv715",
    origin=(
        "Guo G et al. Resolution of cell fate decisions revealed by single-cell gene expression analysis from zygote "
        "to blastocyst. Developmental Cell 18, 675-685 (2010), doi 10.1016/j.devcel.2010.02.012; normalised as "
        "Buettner F, Theis FJ. Bioinformatics 28, i626-i632 (2012), doi 10.1093/bioinformatics/bts385"
    ),
    licence="GPL-3.0, as the package declares; the measurements are public tables of the paper",
    organism="Mus musculus",
    modality="single-cell qPCR",
    n_units=428,
    content_hash="bdf3a09a016d60ced9800d307efeffc00bbf5bad8c726a92a78b01d31cfa5a64",
    notes=notes_of(__file__),
    citation_urls=("https://doi.org/10.1093/bioinformatics/btv715", "https://doi.org/10.1016/j.devcel.2010.02.012"),
)

RECIPE = RecipeSpec(
    dataset=KEY,
    build="primabench_recipes.angerer_2016_bioinformatics.guo_embryo.recipe:build",
    sources=(
        Source(
            name="guo_norm.rda",
            url=github("theislab/destiny", "48962d2c0ebfc17139e930024b9976e758b023ae", "data/guo_norm.rda"),
            sha256="edf86b2ea39254b56628aaa61f16beab3c60be63aa1dbbd18bcd47f52a1bd01f",
            licence="GPL-3.0",
        ),
    ),
    curator=CURATOR,
    audit=AUDITED_BY,
    history=(FIRST_VERSION,),
)
