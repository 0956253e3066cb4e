"""What every other part of the reader and writer uses: errors, value types, limits, files."""
