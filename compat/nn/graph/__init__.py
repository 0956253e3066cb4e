"""Graphs of modules: Torch7's package nngraph."""
