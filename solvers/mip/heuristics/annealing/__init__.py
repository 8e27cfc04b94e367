"""Annealing by swap moves: groups of binaries, of which exactly one is 1, stay that way."""
