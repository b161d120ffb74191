"""What a curator looks at before trusting the source; run as a module, arguments are ``NAME=FILE``."""

from primabench_recipes.curation.exploring import main
from primabench_recipes.polsterl_2020_journal_of_machine_learning_research.gse7390_metastasis.card import AUDIT, RECIPE

if __name__ == "__main__":
    main(RECIPE, AUDIT)
