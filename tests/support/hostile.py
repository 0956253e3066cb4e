"""Files that run code in who trusts them."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import zipfile
from pathlib import Path
from typing import Any


class Trap:
    """A pickle that, where anybody unpickles it, leaves a file that tells so."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "code has run"

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)

    def pickles(self) -> dict[str, bytes]:
        """The pickle by itself and in the wrappings that programs look into, by name."""
        found = {f"protocol {n}": pickle.dumps(self, n) for n in range(pickle.HIGHEST_PROTOCOL + 1)}
        found["stack"] = pickle.dumps([1, self])
        plain = found["protocol 2"]
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("archive/data.pkl", plain)
            archive.writestr("archive/version", "3\n")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name in ("sys_info", "pickle", "storages", "tensors"):
                entry = tarfile.TarInfo(name)
                entry.size = len(plain)
                archive.addfile(entry, io.BytesIO(plain))
        return found | {"zip": zipped.getvalue(), "tar": packed.getvalue()}

    @property
    def has_run(self) -> bool:
        return self.mark.exists()
