from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("lupa")

from support.lua_settings import settings_of_the_process as settings_of_the_process

from compat import lua


@pytest.fixture
def runtime() -> Iterator[lua.Runtime]:
    runtime = lua.Runtime()
    yield runtime
    runtime.close()
