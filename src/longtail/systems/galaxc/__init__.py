"""GalaXC (Saini et al., WWW 2021): documents and labels in one graph, label-wise attention over its hops."""
