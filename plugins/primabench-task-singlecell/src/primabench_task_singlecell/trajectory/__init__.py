"""Trajectories: pseudotime against stages that have an order, and velocities against where the next stage lies."""
