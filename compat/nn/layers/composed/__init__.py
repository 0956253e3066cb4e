"""Layers that are made of layers of other families."""
