"""Batch normalisation over replicas, apart from the container."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from compat import nn
from dptable.container.batch_statistics import statistics_exchange


@pytest.mark.parametrize("rows", [(3, 5), (1, 4), (1, 1, 2), (1,)])
@pytest.mark.parametrize("affine", [True, False])
def test_replicas_normalise_as_one_module_with_the_whole_batch(
    rows: tuple[int, ...], affine: bool
) -> None:
    whole = nn.SpatialBatchNormalization(3, affine=affine)
    replicas = [whole.clone() for _ in rows]
    x, gradOutput = torch.randn(sum(rows), 3, 2, 2) + 1, torch.randn(sum(rows), 3, 2, 2)
    wanted = whole.forward(x)
    whole.zeroGradParameters()
    gradInput = whole.backward(x, gradOutput, 0.5)
    parts, gradients = x.split(rows), gradOutput.split(rows)

    def at_once(function: Callable[[int], Tensor]) -> Tensor:
        with ThreadPoolExecutor(len(rows)) as pool:
            return torch.cat(list(pool.map(function, range(len(rows)))))

    together = statistics_exchange(replicas, [torch.device("cpu")] * len(rows), True)
    with together.installed():
        torch.testing.assert_close(at_once(lambda i: replicas[i].forward(parts[i])), wanted)
    for replica in replicas:
        replica.zeroGradParameters()
        torch.testing.assert_close(replica.running_mean, whole.running_mean)
        torch.testing.assert_close(replica.running_var, whole.running_var)
    with together.installed():
        found = at_once(lambda i: replicas[i].backward(parts[i], gradients[i], 0.5))
    torch.testing.assert_close(found, gradInput)
    for name in ("gradWeight", "gradBias") if affine else ():
        total = sum(getattr(replica, name) for replica in replicas)
        torch.testing.assert_close(total, getattr(whole, name))
