"""What this distribution declares: frozen values that import no array library."""

PBMC68K = "wolf_2018_genome_biology/pbmc68k_reduced@1.0.0"
"""Key of the default dataset of both tasks; its recipe is in primabench-recipes."""

SYNTHETIC_NOTES = """\
**Synthetic: no cell was measured.** Counts are negative-binomial (two failures) draws made with integers alone, so
that every machine makes the same bytes; `expression` is log(1 + count). Eight genes mark each type, each donor shifts
ten genes, cells differ in depth. The truth can be made again by anybody.
"""
"""What the cards of both synthetic datasets say."""
