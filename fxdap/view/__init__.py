"""How graphs and values look: listings, node text, value summaries and their children."""
