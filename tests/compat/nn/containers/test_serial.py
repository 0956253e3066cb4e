"""nn.Serial: what is saved and copied of a net, and as which type."""

from __future__ import annotations

import pytest
import torch

import compat.nn as nn
from compat import t7

pytestmark = pytest.mark.usefixtures("double_by_default")


def net() -> nn.Serial:
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).Serial("torch.FloatTensor")


def test_files_and_copies_have_the_other_type() -> None:
    module = net()
    input = torch.randn(5, 3)
    output = module.forward(input)
    for other in (t7.loads(t7.dumps(module)), module.clone()):
        assert other.type() == other.get(1).get(1).type() == "torch.FloatTensor"
        torch.testing.assert_close(other.forward(input.float()), output.float())
    assert module.type() == "torch.DoubleTensor"
    assert module.get(1).get(1).weight.dtype == torch.float64
    assert torch.equal(module.forward(input), output)


def test_what_is_shared_stays_shared_without_another_type() -> None:
    module = net()
    module.tensortype = None
    pair = t7.loads(t7.dumps([module, module.get(1).get(1).weight]))
    assert pair[1].get(1).get(1).weight.data_ptr() == pair[2].data_ptr()


def test_results_are_left_out_when_asked() -> None:
    module = net()
    module.tensortype = None
    module.forward(torch.randn(5, 3))
    fields = t7.loads(t7.dumps(module), raw=True).fields
    assert fields["output"].numel() == 10
    assert t7.loads(t7.dumps(module.mediumSerial()), raw=True).fields["output"].numel() == 0


def test_it_does_what_its_module_does() -> None:
    module = net()
    input = torch.randn(5, 3)
    plain = module.get(1).clone()
    output = module.forward(input)
    assert torch.equal(output, plain.forward(input))
    assert torch.equal(module.backward(input, output), plain.backward(input, output))
    torch.testing.assert_close(module.to_torch()(input), output)
    with pytest.raises(ValueError, match="tensortype"):
        nn.Serial(nn.Tanh(), "torch.Tensors")
