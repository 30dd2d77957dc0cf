"""Label names that share words with a document: no training documents are needed."""
