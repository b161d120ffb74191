"""Cards and recipes of nine data sets with one layout, importable without any array library."""

from types import SimpleNamespace

from primabench_core.spec import DatasetSpec, RecipeSpec, Source
from primabench_recipes.curation.card import AUDITED_BY, CURATOR, FIRST_VERSION, AuditPlan, github, notes_of

PUBLICATION = "gresova_2023_bmc_genomic_data"
COMMIT = "605d8539830e16c85abe7826990958303ffc5e1c"

AUDIT = AuditPlan(
    identity=["sequence"],
    label="label",
    groups=["region"],
    reverse_complement=True,
    near="sequence",
    public_truth="classes are the names of the interval files on GitHub",
)

ENSEMBL = "https://ftp.ensembl.org/pub"

REFERENCES = {
    "human.fa.gz": f"{ENSEMBL}/release-100/fasta/homo_sapiens/dna/Homo_sapiens.GRCh38.dna.toplevel.fa.gz",
    "transcripts.fa.gz": f"{ENSEMBL}/release-104/fasta/homo_sapiens/cdna/Homo_sapiens.GRCh38.cdna.all.fa.gz",
    "worm.fa.gz": (
        f"{ENSEMBL}/release-104/fasta/caenorhabditis_elegans/dna/Caenorhabditis_elegans.WBcel235.dna.toplevel.fa.gz"
    ),
    "fly.fa.gz": (
        f"{ENSEMBL}/release-100/fasta/drosophila_melanogaster/dna/Drosophila_melanogaster.BDGP6.28.dna.toplevel.fa.gz"
    ),
    "mouse.fa.gz": f"{ENSEMBL}/release-100/fasta/mus_musculus/dna/Mus_musculus.GRCm38.dna.toplevel.fa.gz",
}
"""Genomes and transcripts that intervals are cut out of."""

SETS: dict[str, tuple[dict[str, str], int, int]] = {
    "demo_coding_vs_intergenomic_seqs": (
        {"coding_seqs": "transcripts.fa.gz", "intergenomic_seqs": "human.fa.gz"},
        75000,
        25000,
    ),
    "demo_human_or_worm": ({"human": "human.fa.gz", "worm": "worm.fa.gz"}, 75000, 25000),
    "drosophila_enhancers_stark": ({"negative": "fly.fa.gz", "positive": "fly.fa.gz"}, 5184, 1730),
    "dummy_mouse_enhancers_ensembl": ({"negative": "mouse.fa.gz", "positive": "mouse.fa.gz"}, 968, 242),
    "human_enhancers_cohn": ({"negative": "human.fa.gz", "positive": "human.fa.gz"}, 20843, 6948),
    "human_enhancers_ensembl": ({"negative": "human.fa.gz", "positive": "human.fa.gz"}, 123872, 30970),
    "human_ensembl_regulatory": (
        {"enhancer": "human.fa.gz", "ocr": "human.fa.gz", "promoter": "human.fa.gz"},
        231348,
        57713,
    ),
    "human_nontata_promoters": ({"negative": "human.fa.gz", "positive": "human.fa.gz"}, 27097, 9034),
    "human_ocr_ensembl": ({"negative": "human.fa.gz", "positive": "human.fa.gz"}, 139804, 34952),
}
"""Data set -> the reference of each class, rows of train and of test."""

NOTES = notes_of(__file__)


def _card(name: str) -> DatasetSpec:
    classes, train, test = SETS[name]
    return DatasetSpec(
        key=f"{PUBLICATION}/{name}@1.0.0",
        title=f"Genomic Benchmarks: {name}",
        summary=f"DNA of {len(classes)} classes ({', '.join(classes)}); {train:,} to train, {test:,} to test.",
        publication=(
            "Grešová K, Martinek V, Čechák D, Šimeček P, Alexiou P. Genomic benchmarks: a collection of datasets for "
            "genomic sequence classification. BMC Genomic Data 24, 25 (2023)."
        ),
        doi="10.1186/s12863-023-01123-8",
        licence="Apache-2.0; genomes of Ensembl are free to use",
        organism="Homo sapiens" if "human" in name or "coding" in name else "",
        modality="DNA sequence",
        n_units=train + test,
        notes=NOTES,
        citation_urls=("https://doi.org/10.1186/s12863-023-01123-8",),
    )


def _recipe(name: str) -> RecipeSpec:
    classes = SETS[name][0]
    lists = [
        Source(
            name=f"{split}.{kind}.csv.gz",
            url=github("ML-Bioinfo-CEITEC/genomic_benchmarks", COMMIT, f"datasets/{name}/{split}/{kind}.csv.gz"),
            licence="Apache-2.0",
        )
        for split in ("train", "test")
        for kind in classes
    ]
    genomes = [
        Source(name=file, url=REFERENCES[file], licence="Ensembl, free to use")
        for file in sorted(set(classes.values()))
    ]
    return RecipeSpec(
        dataset=f"{PUBLICATION}/{name}@1.0.0",
        build="primabench_recipes.gresova_2023_bmc_genomic_data.genomic_benchmarks.recipe:build",
        sources=[*lists, *genomes],
        curator=CURATOR,
        audit=AUDITED_BY,
        history=(FIRST_VERSION,),
    )


DATASETS = SimpleNamespace(**{name: _card(name) for name in SETS})
RECIPES = SimpleNamespace(**{name: _recipe(name) for name in SETS})
