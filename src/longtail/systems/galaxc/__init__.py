"""GalaXC (Saini et al., WWW 2021): documents and labels in one graph, and labels that choose how far to look."""
