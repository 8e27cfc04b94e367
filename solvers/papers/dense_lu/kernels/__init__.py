"""Device code of dense linear algebra, and its twins."""
