"""GNN-XML: keyword graphs of long documents, a graph network with two branches, and clusters of labels."""
