"""A plugin of somebody else."""
