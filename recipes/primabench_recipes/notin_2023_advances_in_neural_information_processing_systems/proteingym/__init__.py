"""ProteinGym: deep mutational scans of substitutions and of indels."""
