"""PyTorch on the simulated devices: what it computes there is what it computes on the CPU."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading
from pathlib import Path

import pytest
import torch
from support.simulated import side_stream
from torch import Tensor, nn

import simulator


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 5),
        nn.LogSoftmax(1),
    )


def trained(device: str, steps: int = 3) -> dict[str, Tensor]:
    model = net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    numbers = torch.Generator().manual_seed(1)
    for _ in range(steps):
        x = torch.randn(6, 3, 8, 8, generator=numbers).to(device)
        y = torch.randint(5, (6,), generator=numbers).to(device)
        optimizer.zero_grad()
        nn.functional.nll_loss(model(x), y).backward()
        optimizer.step()
    model.eval()
    model(x)
    return {name: value.cpu() for name, value in model.state_dict().items()}


def test_training_gives_the_cpus_numbers(order: str) -> None:
    expected, found = trained("cpu"), trained("sim:1")
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value, msg=name)


def test_backward_follows_the_streams_of_forward(order: str) -> None:
    x = torch.ones(10, device="sim", requires_grad=True)
    side = side_stream()
    side.wait_stream(torch.accelerator.current_stream())
    with torch.get_device_module("sim").stream(side):
        y = x * 3
    torch.accelerator.current_stream().wait_stream(side)
    (y * 2).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [6.0] * 10


def test_backward_over_two_devices(order: str) -> None:
    x = torch.ones(4, device="sim:0", requires_grad=True)
    y = (x * 2).to("sim:1") * torch.arange(4.0, device="sim:1")
    y.to("sim:0").sum().backward()
    assert x.grad is not None and x.grad.tolist() == [0, 2, 4, 6]


def test_threads_have_streams_and_devices_of_their_own() -> None:
    found = []

    def work() -> None:
        found.append(torch.accelerator.current_device_index())
        torch.accelerator.set_device_index(2)
        found.append(torch.zeros(1, device="sim").device.index)

    torch.accelerator.set_device_index(1)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [0, 2]
    assert torch.accelerator.current_device_index() == 1
    torch.accelerator.set_device_index(0)


def test_autocast() -> None:
    model = nn.Linear(4, 4).to("sim")
    with torch.autocast("sim", dtype=torch.bfloat16):
        y = model(torch.ones(2, 4, device="sim"))
        assert y.dtype == torch.bfloat16
        assert y.exp().dtype == torch.float32
        assert torch.is_autocast_enabled("sim")
    y.float().sum().backward()
    assert model.weight.grad.dtype == torch.float32


def test_events_measure_time() -> None:
    first, second, third = (torch.Event(device="sim:0", enable_timing=True) for _ in range(3))
    first.record()
    torch.ones(300, 300, device="sim") @ torch.ones(300, 300, device="sim")
    second.record()
    torch.ones(300, 300, device="sim") @ torch.ones(300, 300, device="sim")
    third.record()
    third.synchronize()
    assert 0 < first.elapsed_time(second) < first.elapsed_time(third)


def test_events_are_done_after_a_while() -> None:
    simulator.configure(order="late")
    event = torch.Event(device="sim:0")
    assert event.query()
    torch.ones(3, device="sim") * 2
    event.record()
    asked = 0
    while not event.query():
        asked += 1
    assert asked > 0
    assert simulator.counters(0)["host_waits"] == 0


def test_random_numbers_repeat_and_do_not_depend_on_the_order() -> None:
    found = []
    for order in ("late", "random", "eager"):
        simulator.configure(order=order)
        torch.manual_seed(5)
        a = torch.randn(4, device="sim:0")
        b = torch.rand(4, device="sim:1")
        c = nn.functional.dropout(torch.ones(8, device="sim:0"), 0.5)
        found.append([a.tolist(), b.tolist(), c.tolist(), torch.randperm(5, device="sim").tolist()])
    assert found[0] == found[1] == found[2]
    assert set(found[0][2]) == {0.0, 2.0}


def test_generators_keep_their_state() -> None:
    module = torch.get_device_module("sim")
    state = module.get_rng_state(1)
    first = torch.rand(3, device="sim:1").tolist()
    module.set_rng_state(state, 1)
    assert torch.rand(3, device="sim:1").tolist() == first
    given = torch.Generator(device="sim:1").manual_seed(3)
    again = torch.Generator(device="sim:1").manual_seed(3)
    a, b = (
        torch.randn(3, device="sim:1", generator=given),
        torch.randn(3, device="sim:1", generator=again),
    )
    assert a.tolist() == b.tolist()
    with pytest.raises(RuntimeError, match="sim:1"):
        torch.randn(3, device="sim:0", generator=given)


def test_tensors_are_saved_and_copied() -> None:
    x = torch.arange(6.0, device="sim:1").view(2, 3)
    file = io.BytesIO()
    torch.save({"x": x, "row": x[1]}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].device == x.device
    assert loaded["x"].tolist() == x.tolist()
    assert loaded["row"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()
    file.seek(0)
    assert torch.load(file, map_location="cpu")["row"].tolist() == [3, 4, 5]
    assert pickle.loads(pickle.dumps(x)).tolist() == x.tolist()
    assert copy.deepcopy(x).tolist() == x.tolist()


def test_storages() -> None:
    x = torch.arange(6.0, device="sim:1")
    storage = x.untyped_storage()
    assert storage.device == x.device and storage.nbytes() == 24
    storage.resize_(48)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    y = torch.empty(0, device="sim:1").set_(storage, 2, (2, 2), (2, 1))
    assert y.tolist() == [[2, 3], [4, 5]]
    y.resize_(3, 2)
    y.fill_(7)
    assert x.tolist() == [0, 1, 7, 7, 7, 7]
    assert torch.empty(0, device="sim:1").set_(x).data_ptr() == x.data_ptr()
    assert x.set_().numel() == 0
    assert torch.sum(y, 0, out=torch.empty(0, device="sim:1")).tolist() == [21, 21]


def test_module_methods_of_the_name() -> None:
    model = nn.Linear(2, 2).sim(1)
    assert model.weight.is_sim and model.weight.device == torch.device("sim:1")
    assert torch.ones(1).sim().device == torch.device("sim:0")
    assert torch.zeros(2, device="sim:1").new_zeros(3).device == torch.device("sim:1")


def test_foreach_and_fused_operators() -> None:
    values = [torch.ones(3, device="sim"), torch.ones(2, 2, device="sim")]
    torch._foreach_add_(values, 2)
    torch._foreach_mul_(values, [torch.full_like(v, 3) for v in values])
    assert [v.sum().item() for v in values] == [27, 36]
    for fused in (False, True):
        found = []
        for device in ("cpu", "sim"):
            p = torch.ones(5, device=device, requires_grad=True)
            p.grad = torch.arange(5.0, device=device)
            torch.optim.Adam([p], lr=0.1, fused=fused).step()
            found.append(p.detach().cpu())
        torch.testing.assert_close(found[0], found[1])


def test_pinned_memory() -> None:
    x = torch.ones(10).pin_memory()
    assert x.is_pinned() and not torch.ones(10).is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned()
    y = x.to("sim", non_blocking=True)
    assert simulator.counters(0)["host_waits"] == 0
    assert y.sum().item() == 10


def test_memory_is_counted_and_reused() -> None:
    module = torch.get_device_module("sim")
    gc.collect()
    module.empty_cache()
    before = module.memory_allocated(1)
    x = torch.zeros(1024, device="sim:1")
    address = x.data_ptr()
    assert module.memory_allocated(1) == before + 4096
    del x
    assert module.memory_allocated(1) == before
    y = torch.zeros(512, device="sim:1")
    assert y.data_ptr() == address
    assert module.max_memory_allocated(1) >= before + 4096
    del y
    module.empty_cache()
    assert module.memory_reserved(1) >= module.memory_allocated(1)


def test_numbers_that_decide_shapes() -> None:
    x = torch.tensor([0.0, 3, 0, 4], device="sim")
    assert x.nonzero().tolist() == [[1], [3]]
    assert x[x > 0].tolist() == [3, 4]
    assert torch.unique(x).tolist() == [0, 3, 4]
    assert torch.equal(x, x.clone())
    assert bool((x > 2).any())


def test_views_share_memory() -> None:
    x = torch.zeros(2, 3, 4, device="sim")
    x.transpose(0, 2)[1].fill_(1)
    x.unfold(2, 2, 1)[0, 0, 2].add_(2)
    torch.view_as_complex(x.view(2, 3, 2, 2))[1, 2, 0] = 3 + 4j
    expected = torch.zeros(2, 3, 4)
    expected.transpose(0, 2)[1].fill_(1)
    expected.unfold(2, 2, 1)[0, 0, 2].add_(2)
    torch.view_as_complex(expected.view(2, 3, 2, 2))[1, 2, 0] = 3 + 4j
    assert x.tolist() == expected.tolist()


def test_recurrent_attention_and_embedding() -> None:
    torch.manual_seed(0)
    for model, shape in (
        (nn.LSTM(4, 5, 2), (3, 2, 4)),
        (nn.GRU(4, 5), (3, 2, 4)),
        (nn.MultiheadAttention(4, 2), (3, 2, 4)),
        (nn.ConvTranspose2d(2, 3, 3, stride=2), (1, 2, 5, 5)),
        (nn.GroupNorm(2, 4), (2, 4, 3)),
        (nn.LayerNorm(4), (2, 4)),
        (nn.AdaptiveAvgPool2d(2), (1, 2, 5, 5)),
    ):
        x = torch.randn(shape)
        results = []
        for device in ("cpu", "sim"):
            model.zero_grad()
            there, given = copy.deepcopy(model).to(device), x.clone().to(device).requires_grad_()
            inputs = (given,) * 3 if isinstance(model, nn.MultiheadAttention) else (given,)
            y = there(*inputs)
            y = y[0] if isinstance(y, tuple) else y
            y.square().sum().backward()
            assert given.grad is not None
            results.append((y.cpu(), given.grad.cpu(), [p.grad.cpu() for p in there.parameters()]))
        torch.testing.assert_close(results[0], results[1], msg=str(model))


def test_when_disabled_no_device_is_seen() -> None:
    simulator.enable(False)
    try:
        assert not torch.accelerator.is_available()
        assert torch.accelerator.device_count() == 0
        x = torch.ones(2, requires_grad=True)
        x.sum().backward()
    finally:
        simulator.enable(True)


def test_a_machine_without_a_compiler_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert simulator.why_not() == ""
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    monkeypatch.setenv("CXX", "nonesuch")
    assert simulator.why_not() == "the simulator needs a C++ compiler; there is no nonesuch"
    with pytest.raises(simulator.CannotBuild, match="there is no nonesuch"):
        simulator.build.library()
