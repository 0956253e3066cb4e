"""``torch.sim``: what PyTorch looks for in the module of an accelerator."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

DeviceLike = Any


def make(library: ModuleType, name: str) -> ModuleType:
    """The module of the device type ``name``, over the compiled backend."""
    module = ModuleType(f"torch.{name}")

    def index(device: DeviceLike = None) -> int:
        if device is None:
            return library.current_device()
        if isinstance(device, int):
            return device if device >= 0 else library.current_device()
        device = torch.device(device)
        if device.type != name:
            raise ValueError(f"device is {device}; a {name} device is accepted")
        return library.current_device() if device.index is None else device.index

    class device:
        """A block in which a device is the current one."""

        def __init__(self, device: DeviceLike) -> None:
            self.index = -1 if device is None else index(device)

        def __enter__(self) -> None:
            self.before = library.exchange_device(self.index)

        def __exit__(self, *exception: object) -> None:
            library.exchange_device(self.before)

    class device_of(device):
        """A block in which a tensor's device is the current one."""

        def __init__(self, tensor: Tensor) -> None:
            super().__init__(tensor.device if tensor.device.type == name else None)

    def set_device(device: DeviceLike) -> None:
        library.exchange_device(index(device))

    def current_stream(device: DeviceLike = None) -> torch.Stream:
        return torch._C._accelerator_getStream(index(device))

    def default_stream(device: DeviceLike = None) -> torch.Stream:
        kind = torch.device(name).type
        return torch.Stream(
            stream_id=0, device_index=index(device), device_type=_device_type_number(kind)
        )

    def set_stream(stream: torch.Stream) -> None:
        torch._C._accelerator_setStream(stream)

    @contextmanager
    def stream(stream: torch.Stream | None) -> Any:
        if stream is None:
            yield
            return
        device_before = library.current_device()
        before = current_stream(stream.device)
        try:
            set_stream(stream)
            yield
        finally:
            set_stream(before)
            library.exchange_device(device_before)

    def synchronize(device: DeviceLike = None) -> None:
        library.synchronize(index(device))

    def manual_seed(seed: int) -> None:
        library.default_generator(library.current_device()).manual_seed(int(seed))

    def manual_seed_all(seed: int) -> None:
        for each in range(library.device_count()):
            library.default_generator(each).manual_seed(int(seed))

    def get_rng_state(device: DeviceLike = None) -> Tensor:
        return library.default_generator(index(device)).get_state()

    def set_rng_state(state: Tensor, device: DeviceLike = None) -> None:
        library.default_generator(index(device)).set_state(state)

    def set_rng_state_all(states: Iterable[Tensor]) -> None:
        for each, state in enumerate(states):
            set_rng_state(state, each)

    public: dict[str, Any] = {
        "Event": torch.Event,
        "Stream": torch.Stream,
        "current_device": library.current_device,
        "current_stream": current_stream,
        "default_generators": [library.default_generator(i) for i in range(8)],
        "default_stream": default_stream,
        "device": device,
        "device_count": library.device_count,
        "device_of": device_of,
        "empty_cache": library.empty_cache,
        "get_amp_supported_dtype": lambda: [torch.float16, torch.bfloat16, torch.float32],
        "get_device_name": lambda device=None: f"simulated device {index(device)}",
        "get_rng_state": get_rng_state,
        "get_rng_state_all": lambda: [get_rng_state(i) for i in range(library.device_count())],
        "init": lambda: None,
        "initial_seed": lambda: library.default_generator(library.current_device()).initial_seed(),
        "is_available": lambda: library.device_count() > 0,
        "is_bf16_supported": lambda: True,
        "is_initialized": lambda: True,
        "_is_in_bad_fork": lambda: False,
        "_lazy_init": lambda: None,
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed_all,
        "max_memory_allocated": lambda device=None: library.memory(index(device))["peak"],
        "memory_allocated": lambda device=None: library.memory(index(device))["allocated"],
        "memory_reserved": lambda device=None: library.memory(index(device))["reserved"],
        "reset_peak_memory_stats": lambda device=None: library.reset_peak(index(device)),
        "set_device": set_device,
        "set_rng_state": set_rng_state,
        "set_rng_state_all": set_rng_state_all,
        "set_stream": set_stream,
        "stream": stream,
        "synchronize": synchronize,
    }
    vars(module).update(public)
    return module


def _device_type_number(kind: str) -> int:
    return torch.Stream(device=torch.device(kind, 0)).device_type
