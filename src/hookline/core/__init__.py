"""Values and small functions that every other package uses. Nothing here imports another package of hookline."""
