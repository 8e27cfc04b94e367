"""Measurements, one module per engine; run as ``python -m benchmarks.NAME``, never as a test."""
