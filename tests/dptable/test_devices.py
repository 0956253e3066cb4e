import io
import json
import subprocess
import sys
from itertools import combinations
from types import SimpleNamespace

import pynvml
import pytest
import torch
from support.paths import ROOT

from compat import accelerators, cutorch
from dptable import devices
from dptable.hardware import nvml

GIB = 2**30


class Card:
    """A GPU that answers as NVML does; what it is not told of it does not support."""

    def __init__(self, name="NVIDIA A100-SXM4-40GB", used=1, total=40, cores=6912, **answers):
        self.uuid = None
        self.answers = {
            "nvmlDeviceGetName": name,
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=used * GIB, total=total * GIB),
            "nvmlDeviceGetNumGpuCores": cores,
            **answers,
        }


def full_card(**more):
    return Card(
        nvmlDeviceGetUtilizationRates=SimpleNamespace(gpu=35, memory=10),
        nvmlDeviceGetTemperature=41,
        nvmlDeviceGetTotalEccErrors=0,
        nvmlDeviceGetCurrPcieLinkGeneration=4,
        nvmlDeviceGetCurrPcieLinkWidth=16,
        nvmlDeviceGetComputeRunningProcesses=[
            SimpleNamespace(pid=77, usedGpuMemory=GIB),
            SimpleNamespace(pid=78, usedGpuMemory=None),
        ],
        **more,
    )


def unsupported(*_):
    raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)


class FakeDriver:
    """Stands in for the functions of pynvml; cards sit at PCI addresses 1, 2, …"""

    def __init__(self, cards, levels=None):
        self.cards = cards
        self.levels = levels or {}
        self.sessions = 0
        for i, card in enumerate(cards):
            card.uuid = f"GPU-{i}aaa-bbbb"
            card.bus = f"00000000:{i + 1:02X}:00.0"

    def install(self, monkeypatch):
        for name in dir(pynvml):
            if name.startswith("nvmlDeviceGet"):
                answer = getattr(self, name, None) or self.answering(name)
                monkeypatch.setattr(pynvml, name, answer)
        for name in ("nvmlInit", "nvmlShutdown"):
            monkeypatch.setattr(pynvml, name, getattr(self, name))

    def answering(self, name):
        def answer(card, *arguments):
            if card is None or name not in card.answers:
                unsupported()
            told = card.answers[name]
            return told(*arguments) if callable(told) else told

        return answer

    def nvmlInit(self):
        self.sessions += 1

    def nvmlShutdown(self):
        self.sessions -= 1

    def nvmlDeviceGetCount(self):
        return len(self.cards)

    def nvmlDeviceGetHandleByIndex(self, i):
        if self.cards[i].answers.get("lost"):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return self.cards[i]

    def nvmlDeviceGetUUID(self, card):
        return card.uuid if card else unsupported()

    def nvmlDeviceGetPciInfo(self, card):
        return SimpleNamespace(busId=card.bus) if card else unsupported()

    def nvmlDeviceGetTopologyCommonAncestor(self, one, other):
        if one is None or other is None:
            unsupported()
        pair = frozenset((self.cards.index(one), self.cards.index(other)))
        return self.levels.get(pair, pynvml.NVML_TOPOLOGY_SYSTEM)


@pytest.fixture
def machine(monkeypatch):
    """Builds a machine with the given cards, all visible to PyTorch, none in use."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.delenv(cutorch.ENVIRONMENT_VARIABLE, raising=False)

    def build(*cards, levels=None, visible=None):
        driver = FakeDriver(list(cards), levels)
        driver.install(monkeypatch)
        count = len(cards) if visible is None else visible
        monkeypatch.setattr(accelerators, "kind", lambda: "cuda" if count else None)
        monkeypatch.setattr(accelerators, "count", lambda kind: count)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
        cutorch.configure(None)
        return driver

    yield build
    # The list of devices is that of a machine which is about to vanish.
    monkeypatch.undo()
    cutorch.configure(None)


def cuda(*indices):
    return tuple(torch.device("cuda", i) for i in indices)


def nvlinks(*peers):
    """Answers for NVLinks that end at these cards (or "switch")."""

    def known(link):
        if link >= len(peers):
            unsupported()
        return peers[link]

    kinds = (pynvml.NVML_NVLINK_DEVICE_TYPE_GPU, pynvml.NVML_NVLINK_DEVICE_TYPE_SWITCH)
    return {
        "nvmlDeviceGetNvLinkState": lambda link: known(link) is not None,
        "nvmlDeviceGetNvLinkRemoteDeviceType": lambda link: kinds[known(link) == "switch"],
        "nvmlDeviceGetNvLinkRemotePciInfo": lambda link: SimpleNamespace(
            busId=f"00000000:{known(link) + 1:02x}:00.0"
        ),
    }


def test_facts(machine):
    driver = machine(full_card())
    (gpu,) = devices.facts().values()
    assert gpu == nvml.Gpu(
        index=0,
        uuid="GPU-0aaa-bbbb",
        name="NVIDIA A100-SXM4-40GB",
        bus="00000000:01:00.0",
        memory_used=GIB,
        memory_total=40 * GIB,
        utilisation=35,
        temperature=41,
        cores=6912,
        ecc_errors=0,
        pcie_generation=4,
        pcie_width=16,
        processes=(nvml.Process(77, GIB), nvml.Process(78, None)),
    )
    assert gpu.memory_free == 39 * GIB
    assert driver.sessions == 0


def test_what_a_gpu_does_not_support_is_unknown(machine):
    machine(Card())
    (gpu,) = devices.facts().values()
    assert (gpu.temperature, gpu.processes, gpu.ecc_errors, gpu.instances) == (None,) * 4


def test_a_lost_gpu_does_not_hide_the_others(machine):
    machine(Card(), Card(lost=True))
    good, lost = devices.facts().values()
    assert good.memory_total == 40 * GIB
    assert "lost" in lost.name.lower()
    assert devices.report().table().count("\n") >= 2


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("2,0", [2, 0]),
        (" 1 , 2", [1, 2]),
        ("1,-1,0", [1]),
        ("1,7,0", [1]),
        ("1,1", []),
        ("NoDevFiles", []),
        ("GPU-2aaa-bbbb,GPU-0", [2, 0]),
        ("GPU-2,1", [2]),
        ("GPU-", []),
    ],
)
def test_visible_devices(machine, monkeypatch, setting, expected):
    machine(Card(), Card(), Card())
    if setting is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", setting)
    assert [gpu.index for gpu in devices.facts().values()] == expected
    assert list(devices.facts()) == list(cuda(*range(len(expected))))


def mig_card(n=2):
    def instance(i):
        part = Card("MIG 3g.20gb", total=20)
        part.uuid = f"MIG-{i}ccc"
        part.answers |= {"nvmlDeviceGetGpuInstanceId": i + 1, "nvmlDeviceGetComputeInstanceId": 0}
        return part

    parts = [instance(i) for i in range(n)]
    return Card(
        nvmlDeviceGetMigMode=[pynvml.NVML_DEVICE_MIG_ENABLE] * 2,
        nvmlDeviceGetMaxMigDeviceCount=7,
        nvmlDeviceGetMigDeviceHandleByIndex=lambda i: parts[i] if i < n else unsupported(),
    )


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        (None, ["MIG-0ccc", "GPU-1aaa-bbbb"]),
        ("MIG-1ccc", ["MIG-1ccc"]),
        ("MIG-GPU-0aaa-bbbb/2/0", ["MIG-1ccc"]),
        ("1,0", ["GPU-1aaa-bbbb", "MIG-0ccc"]),
        ("MIG-9", []),
    ],
)
def test_mig_instances(machine, monkeypatch, setting, expected):
    machine(mig_card(), Card())
    if setting is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", setting)
    assert [gpu.uuid for gpu in devices.facts().values()] == expected


def test_cudas_own_answer_counts_once_it_runs(machine, monkeypatch):
    machine(Card("fast"), Card("faster"))
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(
        torch.cuda,
        "get_device_properties",
        lambda i: SimpleNamespace(uuid=["1aaa-bbbb", "0aaa-bbbb"][i]),
    )
    assert [gpu.name for gpu in devices.facts().values()] == ["faster", "fast"]


@pytest.mark.parametrize("told", ["0ccc", "0aaa-bbbb"])
def test_cudas_answer_for_an_instance_may_be_the_whole_gpu(machine, monkeypatch, told):
    machine(mig_card(), visible=1)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: SimpleNamespace(uuid=told))
    assert [gpu.uuid for gpu in devices.facts().values()] == ["MIG-0ccc"]


def test_links(machine):
    levels = {frozenset((0, 2)): pynvml.NVML_TOPOLOGY_SINGLE}
    machine(Card(**nvlinks(1, 1, None)), Card(**nvlinks(0, 0)), Card(), levels=levels)
    links = {pair: str(link) for pair, link in nvml.survey().links.items()}
    assert links == {(0, 1): "NV2", (0, 2): "PIX", (1, 2): "SYS"}


def test_links_through_a_switch(machine):
    machine(Card(**nvlinks(*["switch"] * 12)), Card(**nvlinks(*["switch"] * 12)))
    assert str(nvml.survey().links[0, 1]) == "NV12"


def test_choose_takes_the_idle_gpus(machine):
    machine(Card(), Card(used=35), Card(used=3))
    assert devices.choose() == cuda(0, 2)


def test_choose_prefers_links_among_idle_gpus(machine):
    pairs = {0: 1, 1: 0, 2: 3, 3: 2}
    cards = [Card(used=i, **nvlinks(peer)) for i, peer in pairs.items()]
    cards[1].answers["nvmlDeviceGetMemoryInfo"].used = 30 * GIB
    machine(*cards)
    assert devices.choose(2) == cuda(2, 3)
    assert devices.choose(1) == cuda(0)
    assert devices.choose(4) == cuda(0, 1, 2, 3)


def test_choose_prefers_free_memory_among_equal_links(machine):
    machine(Card(used=5), Card(used=2), Card(used=1))
    assert devices.choose(2) == cuda(1, 2)


def test_choose_counts_what_there_is(machine):
    machine(Card())
    for count in (0, 2):
        with pytest.raises(
            ValueError, match=f"count is {count}; 1 to 1.*, the devices there are, are"
        ):
            devices.choose(count)


def test_choose_without_a_gpu_takes_cpu_devices(machine):
    machine()
    cutorch.configure(["cpu"] * 3)
    assert devices.choose() == (torch.device("cpu"),) * 3
    assert devices.choose(2) == (torch.device("cpu"),) * 2


@pytest.mark.parametrize(
    ("second", "what"),
    [
        (Card("small", total=24), "memory"),
        (Card("slow", cores=2048), "cores"),
        (Card("as good", total=31, cores=6000), None),
    ],
)
def test_imbalance(machine, second, what):
    machine(Card(), second)
    if what is None:
        assert devices.imbalance(devices.facts()) is None
        devices.warn_about_imbalance([1, 2])
        return
    name = second.answers["nvmlDeviceGetName"]
    with pytest.warns(UserWarning, match=rf"cuda:1 \({name}\) has \d+ % of the {what} of cuda:0"):
        devices.warn_about_imbalance([1, 2])
    assert any("holds it up" in note for note in devices.report().notes)
    devices.warn_about_imbalance([1])


def test_table(machine):
    machine(full_card(**nvlinks(1)), full_card(**nvlinks(0)))
    cutorch.configure(["cuda:1", "cuda:0", "cuda:1", "cpu"])
    head, *rows = devices.report().table().split("\n")
    assert head.split()[:3] == ["GPU", "device", "name"]
    assert [row.split()[:2] for row in rows[:4]] == [
        ["1", "cuda:1"],
        ["2", "cuda:0"],
        ["3", "cuda:1"],
        ["4", "cpu"],
    ]
    for text in ("1.0 of 40.0 GiB", "35 %", "41 °C", "6912", "4.0 x16", "GPU-1aaa-bbbb"):
        assert text in rows[0]
    assert [row.split() for row in rows[5:8]] == [
        ["cuda:1", "cuda:0"],
        ["cuda:1", "-", "NV1"],
        ["cuda:0", "NV1", "-"],
    ]


def test_json(machine):
    machine(full_card(), Card())
    told = json.loads(devices.report().json())
    assert [entry["gpu"] for entry in told["devices"]] == [1, 2]
    assert told["devices"][0]["processes"] == [
        {"pid": 77, "memory": GIB},
        {"pid": 78, "memory": None},
    ]
    assert told["devices"][1]["temperature"] is None
    assert told["links"] == [{"devices": ["cuda:0", "cuda:1"], "kind": "SYS", "nvlinks": 0}]


def test_an_uncertain_order_is_told(machine, monkeypatch):
    machine(Card("fast"), Card("other"))
    assert any("CUDA_DEVICE_ORDER" in note for note in devices.report().notes)
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert not devices.report().notes


def test_without_a_driver_one_line_says_so(machine, monkeypatch):
    machine()

    def fail():
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", fail)
    cutorch.configure(["cpu"] * 2)
    report = devices.report()
    (note,) = report.notes
    assert note.startswith("no NVIDIA driver can be asked: ")
    assert "\n" not in note
    lines = report.table().split("\n")
    assert [line.split()[:2] for line in lines[1:3]] == [["1", "cpu"], ["2", "cpu"]]
    entry = json.loads(report.json())["devices"][0]
    assert entry["memory_total"] > 0
    assert entry["temperature"] is entry["uuid"] is None
    with pytest.raises(nvml.NoDriver):
        devices.facts()
    devices.warn_about_imbalance([1, 2])


def test_gpus_without_a_driver_that_answers_are_taken_as_they_are(machine, monkeypatch):
    driver = machine(Card(), Card(cores=100))

    def fail():
        assert driver.sessions == 1
        raise pynvml.NVMLError(pynvml.NVML_ERROR_UNKNOWN)

    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", fail)
    assert devices.choose() == cuda(0, 1)
    assert devices.choose(1) == cuda(0)
    devices.warn_about_imbalance([1, 2])
    report = devices.report()
    assert report.notes[0].startswith("the NVIDIA driver does not answer: ")
    assert [row.split()[:3] for row in report.table().split("\n")[1:3]] == [
        ["1", "cuda:0", "cuda:0"],
        ["2", "cuda:1", "cuda:1"],
    ]
    assert driver.sessions == 0


def test_memory_that_is_not_told_is_not_free(machine):
    machine(Card(nvmlDeviceGetMemoryInfo=unsupported), Card())
    (untold, told) = devices.facts().values()
    assert untold.memory_free is None and told.memory_free == 39 * GIB
    assert devices.choose() == cuda(1)


def test_a_pytorch_without_cuda_is_told(machine):
    machine(Card(), visible=0)
    assert any("cannot use the GPUs" in note for note in devices.report().notes)


def test_watch(machine, monkeypatch):
    machine(Card())
    naps = []
    monkeypatch.setattr(devices.time, "sleep", naps.append)
    out = io.StringIO()
    devices.watch(5, out=out, rounds=3)
    assert out.getvalue().count("GPU  device") == 3
    assert naps == [5, 5]
    for interval in (0, -1, float("nan"), float("inf")):
        with pytest.raises(
            ValueError, match=f"interval is {interval}; a positive number of seconds"
        ):
            devices.watch(interval)


def test_ctrl_c_ends_watching(machine, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    machine(Card())
    monkeypatch.setattr(devices.time, "sleep", interrupted)
    out = io.StringIO()
    devices.watch(1, out=out)
    assert out.getvalue().count("GPU  device") == 1


def test_every_pair_has_a_link(machine):
    machine(*(Card() for _ in range(4)))
    assert set(nvml.survey().links) == set(combinations(range(4), 2))


@pytest.mark.cuda
def test_the_facts_are_those_that_cuda_knows():
    for device, gpu in devices.facts().items():
        properties = torch.cuda.get_device_properties(device)
        assert gpu.name == properties.name
        assert gpu.memory_total >= properties.total_memory
        assert gpu.memory_used <= gpu.memory_total


@pytest.mark.cuda
def test_the_report_creates_no_context():
    script = (
        "import torch; from dptable import devices; devices.report().table(); devices.choose();"
        "assert not torch.cuda.is_initialized()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=100)


def test_importing_the_package_is_enough() -> None:
    code = (
        "import dptable; dptable.devices.configure(['cpu'] * 3); print(dptable.devices.devices())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stdout == f"{(torch.device('cpu'),) * 3}\n", run.stderr
