"""ArchiveII: RNA secondary structures of ten families from comparative analysis."""
