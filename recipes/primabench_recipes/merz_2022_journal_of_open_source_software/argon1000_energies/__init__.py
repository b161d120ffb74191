"""Energies of 1,000 argon atoms at six time steps, out of the files inside physical_validation."""
