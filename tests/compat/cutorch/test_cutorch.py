import inspect
import threading

import pytest
import torch

from compat import cutorch, nn


@pytest.fixture(autouse=True)
def four_cpu_devices():
    cutorch.configure(["cpu"] * 4)


def test_gpu_ids_count_from_one():
    assert cutorch.getDeviceCount() == 4
    assert cutorch.getDevice() == 1
    assert cutorch.device(4) == torch.device("cpu")


@pytest.mark.parametrize("gpu", [0, 5, -1])
def test_an_id_outside_the_list_says_how_ids_count(gpu):
    with pytest.raises(ValueError, match=rf"GPU id is {gpu}; 1 to 4 are .* count from 1, as in"):
        cutorch.setDevice(gpu)
    assert cutorch.getDevice() == 1


def test_an_id_that_is_too_high_says_what_makes_more_devices():
    with pytest.raises(ValueError, match=r"cutorch\.configure makes a longer list$"):
        cutorch.device(5)
    with pytest.raises(ValueError, match=r"'cuda:0' is PyTorch's$"):
        cutorch.device(0)


@pytest.mark.parametrize("name", cutorch.__all__)
def test_every_function_without_arguments_works_on_a_cpu(name):
    function = getattr(cutorch, name)
    if name not in NEED_ARGUMENTS and inspect.isfunction(function):
        function()


NEED_ARGUMENTS = {
    *("configure", "cuda_device", "device", "getPeerToPeerAccess", "manualSeed", "manualSeedAll"),
    *("gpu_id", "place"),
    *("reserveStreams", "setDevice", "setRNGState", "setStream", "streamBarrier", "withDevice"),
    *("streamBarrierMultiDevice", "streamSynchronize", "streamWaitFor"),
    "streamWaitForMultiDevice",
}


@pytest.mark.parametrize("gpu", [None, True, 1.5, [1]])
def test_only_ids_and_names_are_devices(gpu):
    with pytest.raises(TypeError, match=r"device is .*; a GPU id"):
        cutorch.device(gpu)


def test_names_are_pytorchs():
    assert cutorch.device("cpu") == cutorch.device(torch.device("cpu:0")) == torch.device("cpu")
    with pytest.raises(ValueError, match="device is 'gpu1'; a name such as"):
        cutorch.device("gpu1")
    with pytest.raises(ValueError, match="PyTorch sees"):
        cutorch.device("cuda:99")


def test_a_name_sets_the_first_device_of_that_name():
    cutorch.setDevice(3)
    cutorch.setDevice("cpu")
    assert cutorch.getDevice() == 1
    with pytest.raises(ValueError, match=r"device is .*; a logical device"):
        cutorch.setDevice("meta")


def test_configure_refuses_what_it_cannot_use_and_keeps_the_list():
    for wanted, error in (([], ValueError), (["cuda:99"], ValueError), ("cpu", TypeError)):
        with pytest.raises(error, match="devices"):
            cutorch.configure(wanted)
    assert cutorch.getDeviceCount() == 4


def test_configure_starts_again_at_the_first_device():
    cutorch.setDevice(4)
    cutorch.configure(["cpu"] * 2)
    assert cutorch.getDevice() == 1


def test_default_list():
    cutorch.configure(None)
    if torch.cuda.is_available():
        assert cutorch.devices()[0] == torch.device("cuda:0")
        assert cutorch.getDeviceCount() == torch.cuda.device_count()
    else:
        assert set(cutorch.devices()) == {torch.device("cpu")}


def test_environment_variable(monkeypatch):
    monkeypatch.setenv(cutorch.ENVIRONMENT_VARIABLE, "cpu, cpu,cpu")
    cutorch.configure(None)
    assert cutorch.devices() == (torch.device("cpu"),) * 3
    monkeypatch.setenv(cutorch.ENVIRONMENT_VARIABLE, "0,1")
    with pytest.raises(ValueError, match=r"DPTABLE_DEVICES: GPU id is 0; .*count from 1"):
        cutorch.configure(None)
    assert cutorch.getDeviceCount() == 3


def test_current_device_is_per_thread():
    cutorch.setDevice(3)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(cutorch.getDevice()))
    thread.start()
    thread.join()
    assert seen == [1]
    assert cutorch.getDevice() == 3


def test_withDevice_returns_and_restores():
    cutorch.setDevice(2)
    assert cutorch.device() == cutorch.device(2)
    assert cutorch.withDevice(4, cutorch.getDevice) == 4
    assert cutorch.getDevice() == 2
    with pytest.raises(KeyError, match="inside"):
        cutorch.withDevice(3, lambda: {}["inside"])
    assert cutorch.getDevice() == 2


def test_device_guard_restores_what_the_block_changed():
    cutorch.setDevice(2)
    with cutorch.device_guard():
        cutorch.setDevice(3)
    assert cutorch.getDevice() == 2
    with pytest.raises(KeyboardInterrupt), cutorch.device_guard(4):
        raise KeyboardInterrupt
    assert cutorch.getDevice() == 2


def test_a_guard_across_configure_ends_at_the_first_device():
    cutorch.setDevice(4)
    with cutorch.device_guard(3):
        cutorch.configure(["cpu"] * 2)
    assert cutorch.getDevice() == 1


def test_synchronize_is_harmless_on_cpu():
    cutorch.synchronize()
    cutorch.synchronizeAll()


def test_memory_usage_is_free_then_total():
    free, total = cutorch.getMemoryUsage()
    assert 0 < free <= total
    assert cutorch.getMemoryUsage(2)[1] == total


def test_device_properties():
    facts = cutorch.getDeviceProperties(1)
    assert facts.name == facts["name"]
    assert facts["multiProcessorCount"] >= 1
    assert facts["totalGlobalMem"] == cutorch.getMemoryUsage(1)[1]
    assert isinstance(facts["name"], str)


@pytest.fixture
def generator():
    state = torch.get_rng_state()
    yield
    torch.set_rng_state(state)


def test_seeds(generator):
    cutorch.manualSeed(7)
    first = torch.rand(3)
    cutorch.manualSeedAll(7)
    assert cutorch.initialSeed() == 7
    assert torch.equal(torch.rand(3), first)
    assert cutorch.seed(2) == cutorch.initialSeed(2)
    cutorch.seedAll()
    assert not torch.equal(torch.rand(3), first)


def test_random_state_round_trip(generator):
    state = cutorch.getRNGState(2)
    first = torch.rand(5)
    cutorch.setRNGState(state, 2)
    assert torch.equal(torch.rand(5), first)


def test_host_tensors():
    assert cutorch.createCudaHostTensor(2, 3).shape == (2, 3)
    assert cutorch.createCudaHostTensor().shape == (0,)
    tensor = cutorch.createCudaHostLongTensor([4, 1])
    assert tensor.shape == (4, 1)
    assert tensor.dtype == torch.int64
    assert cutorch.createCudaHostHalfTensor(torch.Size([2])).dtype == torch.float16
    assert tensor.is_pinned() == torch.cuda.is_available()


def test_stream_numbers():
    cutorch.reserveStreams(2)
    reserved = cutorch.getNumStreams()
    assert reserved >= 2
    try:
        cutorch.setStream(2)
        assert cutorch.getStream() == 2
        cutorch.streamWaitFor(1, [0, 2])
        cutorch.streamWaitForMultiDevice(1, 0, {2: [1], 3: [0, 2]})
        cutorch.streamBarrier([1, 2])
        cutorch.streamBarrierMultiDevice({1: [1], 2: [0]})
        cutorch.streamSynchronize(1)
    finally:
        cutorch.setDefaultStream()
    assert cutorch.getStream() == 0
    with pytest.raises(ValueError, match=r"stream is 3; 0 .* to 2 are accepted: reserveStreams"):
        cutorch.setStream(reserved + 1)


def test_versions():
    assert cutorch.getRuntimeVersion() == 0 or cutorch.getRuntimeVersion() > 10000
    assert cutorch.getDriverVersion() >= 0
    assert isinstance(cutorch.isCachingAllocatorEnabled(), bool)


def test_peer_access():
    assert cutorch.getPeerToPeerAccess(1, 2)


def test_what_pytorch_lacks_names_the_replacement():
    with pytest.raises(AttributeError, match=r"cutorch\.deviceReset .* torch\.cuda\.empty_cache"):
        cutorch.deviceReset()
    with pytest.raises(AttributeError, match="has no attribute 'setDevise'"):
        cutorch.setDevise(1)


def test_a_kind_without_a_number_is_the_current_logical_device(simulated):
    cutorch.configure(["sim:1"])
    assert cutorch.device("sim") == nn.Linear(2, 2).cuda().weight.device == torch.device("sim:1")
    cutorch.configure(["sim:2", "sim:1"])
    net = nn.Linear(2, 2).cuda()
    cutorch.setDevice(2)
    assert cutorch.device("sim") == nn.Linear(2, 2).cuda().weight.device == torch.device("sim:1")
    # What is on a device stays there.
    assert net.cuda().weight.device == net.cudaDouble().weight.device == torch.device("sim:2")
    tensor = torch.ones(2, device="sim:2")
    assert nn.utils.recursiveType(tensor, "torch.CudaTensor").device == torch.device("sim:2")


@pytest.mark.cuda
def test_one_gpu_as_several_devices():
    cutorch.configure(["cuda:0", "cuda:0", "cpu"])
    cutorch.setDevice(2)
    assert cutorch.getDevice() == 2
    assert torch.zeros(1, device="cuda").device == cutorch.device(1)
    cutorch.setDevice(3)
    assert cutorch.getDevice() == 3
    free, total = cutorch.getMemoryUsage(1)
    assert 0 < free <= total
    assert cutorch.getDeviceProperties(1)["warpSize"] == 32
    cutorch.manualSeedAll(3)
    first = torch.rand(4, device="cuda")
    cutorch.manualSeed(3, 2)
    assert torch.equal(torch.rand(4, device="cuda"), first)
    assert cutorch.createCudaHostTensor(3).is_pinned()
    assert cutorch.getDriverVersion() >= cutorch.getRuntimeVersion() // 1000 * 1000 > 0


@pytest.mark.cuda
def test_streams_on_a_gpu():
    cutorch.configure(["cuda:0", "cuda:0"])
    cutorch.reserveStreams(2)
    default = torch.cuda.current_stream()
    try:
        cutorch.setStream(1)
        assert torch.cuda.current_stream() != default
        result = torch.ones(1 << 20, device="cuda").sum()
        cutorch.streamWaitFor(2, [1])
        cutorch.setStream(2)
        result = result + 1
        cutorch.streamSynchronize(2)
        assert result.item() == (1 << 20) + 1
    finally:
        cutorch.setDefaultStream()
    assert torch.cuda.current_stream() == default
