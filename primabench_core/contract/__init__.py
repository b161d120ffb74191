"""What predictions must be: fields, contracts, alignment by id, and the checks that run before any metric."""
