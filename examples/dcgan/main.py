"""Train two nets against each other until one makes images: dcgan.torch, ported.

::

    python examples/dcgan/main.py
    dataset=folder DATA_ROOT=photographs niter=25 python examples/dcgan/main.py
    python examples/dcgan/main.py dataset=folder DATA_ROOT=photographs gpu=1

Options are variables of the environment, as in Lua, or words ``name=value``. The updates are those
of the Lua program, in its order: the generator's uses what the discriminator's forward pass left,
with the parameters that it has after its step.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import models
import torch
from torch import Tensor

from compat import cutorch, nn, optim, random, t7
from compat import torch as torch7
from compat.checks import check_choice, whole
from compat.cmdline import Options
from dptable import data as digits
from dptable.training import INTERRUPTED, stop_requests

REAL, FAKE = 1, 0
DEFAULTS: dict[str, Any] = {
    "dataset": "digits",  # the digits that come along; folder: of images, DATA_ROOT
    "DATA_ROOT": "",
    "batchSize": 64,
    "loadSize": 96,
    "fineSize": 0,  # 16 for digits, 64 for images
    "nz": 100,
    "ngf": 16,
    "ndf": 16,
    "niter": 3,
    "lr": 0.0002,
    "beta1": 0.5,
    "ntrain": math.inf,
    "gpu": 0,
    "name": "experiment1",
    "noise": "normal",
    "epoch_save_modulo": 1,
    "manualSeed": 1,
    "save": "checkpoints",
}


def parse(words: Sequence[str], environment: Mapping[str, str] = os.environ) -> Options:
    """The options: the defaults, then variables of the environment, then words ``name=value``."""
    opt = Options(DEFAULTS)
    given = {name: environment[name] for name in opt if name in environment}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in opt:
            raise ValueError(f"{word!r} is no option; name=value with {', '.join(opt)} is accepted")
        given[name] = value
    for name, text in given.items():
        is_text = isinstance(opt[name], str)
        try:
            opt[name] = text if is_text else float(text) if "." in text else int(text)
        except ValueError:
            raise ValueError(f"{name} is {text!r}; a number is accepted") from None
    check_choice(opt.dataset, "dataset", ("digits", "folder"))
    check_choice(opt.noise, "noise", ("normal", "uniform"))
    opt.fineSize = opt.fineSize or (16 if opt.dataset == "digits" else 64)
    for name in ("batchSize", "fineSize", "nz", "ngf", "ndf", "niter", "epoch_save_modulo"):
        opt[name] = whole(opt[name], name, 1)
    return opt


def images(opt: Options) -> Tensor:
    """All images to learn from, N×C×fineSize×fineSize, from -1 to 1."""
    if opt.dataset == "folder":
        found = _photographs(opt)
    else:
        found = digits.load().train.data.float()
        found = found / found.max()
    size = (opt.fineSize, opt.fineSize)
    found = torch.nn.functional.interpolate(found, size, mode="bilinear", antialias=True)
    return found.clamp(0, 1) * 2 - 1


def _photographs(opt: Options) -> Tensor:
    """The middle squares of the images below ``DATA_ROOT``, from 0 to 1."""
    from PIL import Image, ImageOps

    kinds = {".jpg", ".jpeg", ".png"}
    files = sorted(p for p in Path(opt.DATA_ROOT).rglob("*") if p.suffix.lower() in kinds)
    if not files:
        raise FileNotFoundError(f"DATA_ROOT is {opt.DATA_ROOT!r}; there are no images in it")
    squares = []
    for file in files:
        with Image.open(file) as image:
            square = ImageOps.fit(image.convert("RGB"), (opt.loadSize, opt.loadSize))
        values = torch.frombuffer(bytearray(square.tobytes()), dtype=torch.uint8)
        squares.append(values.view(opt.loadSize, opt.loadSize, 3).permute(2, 0, 1))
    return torch.stack(squares).float() / 255


class Trainer:
    """The two nets and their updates. Fields ``errD`` and ``errG`` hold the latest losses."""

    def __init__(self, opt: Options, real: Tensor) -> None:
        self.opt, self.real = opt, real
        channels, size = real.size(1), opt.fineSize
        self.netG: Any = models.generator(opt.nz, opt.ngf, channels, size)
        self.netD: Any = models.discriminator(opt.ndf, channels, size)
        self.criterion = nn.BCECriterion()
        device = torch.device("cpu")
        if opt.gpu > 0:
            cutorch.setDevice(opt.gpu)
            device = cutorch.device(opt.gpu)
            for net in (self.netG, self.netD, self.criterion):
                net.cuda()
        self.input = torch.empty(opt.batchSize, channels, size, size, device=device)
        self.noise = torch.empty(opt.batchSize, opt.nz, 1, 1, device=device)
        self.label = torch.empty(opt.batchSize, device=device)
        self.parametersD, self.gradParametersD = self.netD.getParameters()
        self.parametersG, self.gradParametersG = self.netG.getParameters()
        self.optimStateD = {"learningRate": opt.lr, "beta1": opt.beta1}
        self.optimStateG = {"learningRate": opt.lr, "beta1": opt.beta1}
        self.errD = self.errG = -1.0

    def draw(self) -> None:
        """New noise."""
        if self.opt.noise == "uniform":
            random.uniform_(self.noise, -1, 1)
        else:
            random.normal_(self.noise, 0, 1)

    def batch(self) -> Tensor:
        """Some of the real images."""
        picked = [random.random(1, len(self.real)) - 1 for _ in range(self.opt.batchSize)]
        return self.real[picked]

    def fDx(self, x: Tensor) -> tuple[float, Tensor]:
        """The discriminator's loss, on real images and on made ones."""
        self.gradParametersD.zero_()
        self.input.copy_(self.batch())
        errD_real = self._judge(REAL)
        self.draw()
        self.input.copy_(self.netG.forward(self.noise))
        errD_fake = self._judge(FAKE)
        self.errD = errD_real + errD_fake
        return self.errD, self.gradParametersD

    def _judge(self, label: int) -> float:
        self.label.fill_(label)
        output = self.netD.forward(self.input)
        loss = self.criterion.forward(output, self.label.view_as(output))
        self.netD.backward(self.input, self.criterion.backward(output, self.label.view_as(output)))
        return loss

    def fGx(self, x: Tensor) -> tuple[float, Tensor]:
        """The generator's loss: that what it made is not taken for real."""
        self.gradParametersG.zero_()
        # What fDx forwarded last are the made images; the gradient flows through today's netD.
        self.label.fill_(REAL)
        output = self.netD.output
        self.errG = self.criterion.forward(output, self.label.view_as(output))
        df_do = self.criterion.backward(output, self.label.view_as(output))
        df_dg = self.netD.updateGradInput(self.input, df_do)
        self.netG.backward(self.noise, df_dg)
        return self.errG, self.gradParametersG

    def step(self) -> None:
        """An update of the discriminator, then one of the generator."""
        optim.adam(self.fDx, self.parametersD, self.optimStateD)
        optim.adam(self.fGx, self.parametersG, self.optimStateG)

    def save(self, epoch: int) -> None:
        """Write copies of both nets."""
        folder = Path(self.opt.save)
        folder.mkdir(parents=True, exist_ok=True)
        for name, net in (("G", self.netG), ("D", self.netD)):
            path = folder / f"{self.opt.name}_{epoch}_net_{name}.t7"
            t7.save(path, net.clone().float().clearState())

    def picture(self, path: Path) -> None:
        """A sheet of made images; not without Pillow."""
        try:
            from PIL import Image
        except ImportError:
            return
        self.netG.evaluate()
        made = self.netG.forward(self.noise).detach().float().cpu()
        self.netG.training()
        columns = math.isqrt(len(made))
        rows = made[: columns * columns].unflatten(0, (columns, columns))
        sheet = ((torch.cat(torch.cat(rows.unbind(0), 2).unbind(0), 2) + 1) * 127.5).round().byte()
        array = sheet.permute(1, 2, 0).expand(-1, -1, 3).contiguous().numpy()
        Image.fromarray(array).save(path)


def main(words: Sequence[str]) -> int:
    opt = parse(words)
    torch7.manualSeed(opt.manualSeed)
    trainer = Trainer(opt, images(opt))
    size = int(min(len(trainer.real), opt.ntrain))
    count = max(1, size // opt.batchSize)
    print(f"Dataset: {opt.dataset}  Size: {len(trainer.real)}")
    tm = torch7.Timer()
    with stop_requests() as stopped:
        for epoch in range(1, opt.niter + 1):
            for i in range(count):
                tm.reset()
                trainer.step()
                errors = trainer.errG, trainer.errD
                print(
                    f"Epoch: [{epoch}][{i:8} / {count:8}]\t Time: {tm.time().real:.3f}  "
                    f"Err_G: {errors[0]:.4f}  Err_D: {errors[1]:.4f}"
                )
                if not all(map(math.isfinite, errors)):
                    raise ArithmeticError(f"the losses are {errors}; try lr below {opt.lr:g}")
                if stopped():
                    trainer.save(epoch)
                    print(f"Interrupted; the nets are in {opt.save}")
                    return stopped.exit_code
            if epoch % opt.epoch_save_modulo == 0:
                trainer.save(epoch)
                trainer.picture(Path(opt.save, f"{opt.name}_{epoch}.png"))
    return 0


if __name__ == "__main__":
    # As in Lua.
    torch.set_num_threads(1)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except (ArithmeticError, OSError, TypeError, ValueError) as error:
        sys.exit(f"main.py: {error}")
