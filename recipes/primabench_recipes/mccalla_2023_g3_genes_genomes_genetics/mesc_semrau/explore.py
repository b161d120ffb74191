"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.mccalla_2023_g3_genes_genomes_genetics.mesc_semrau.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
