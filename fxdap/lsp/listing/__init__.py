"""Graph listings (`*.fxgraph`): read from their text alone, without torch."""
