"""Processes that train together: membership, agreement, blame for failures, sliced files.

This package knows no container.
"""
