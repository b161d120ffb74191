"""OCELOT: points of two cell classes in patches of six organs."""
