"""Divide a batch, or a flat buffer, among devices."""

from __future__ import annotations

from itertools import accumulate, pairwise


def slice_sizes(n: int, k: int) -> list[int]:
    """Return how Torch7 splits ``n`` elements over ``k`` devices: 9 over 4 is ``[3, 2, 2, 2]``.

    Sizes differ by at most one and the larger ones come first (``torch.chunk`` gives 3, 3, 3).

    Args:
        n: the number of elements.
        k: the number of devices.

    Examples:
        >>> from dptable import comm
        >>> comm.slice_sizes(9, 4)
        [3, 2, 2, 2]
    """
    if k < 1 or n < 0:
        raise ValueError(f"n is {n} and k is {k}; n from 0 on and k from 1 on are accepted")
    size, extra = divmod(n, k)
    return [size + 1] * extra + [size] * (k - extra)


def slice_ranges(n: int, k: int) -> list[tuple[int, int]]:
    """Return the slices of ``slice_sizes`` as ``(start, stop)``.

    Args:
        n: the number of elements.
        k: the number of devices.

    Examples:
        >>> from dptable import comm
        >>> comm.slice_ranges(5, 2)
        [(0, 3), (3, 5)]
    """
    return list(pairwise(accumulate(slice_sizes(n, k), initial=0)))
