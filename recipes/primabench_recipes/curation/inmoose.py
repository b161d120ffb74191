"""What the recipes on InMoose's files share on their cards."""

PUBLICATION = (
    "Colange M, Appé G, Meunier L, Weill S, Johnson WE, Nordor A, Behdenna A. Bridging the gap between R and Python in "
    "bulk transcriptomic data analysis with InMoose. Scientific Reports 15, 18104 (2025)."
)
DOI = "10.1038/s41598-025-03376-y"
LICENCE = "GPL-3.0-or-later, as files of InMoose; the GEO series states no restriction"
