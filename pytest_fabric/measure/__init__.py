"""Facts of nodes, and measurements between ports: the only layer that runs things together."""
