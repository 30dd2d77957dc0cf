"""What training minimises, one loss a file."""
