"""The ported training program in examples/dcgan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from support import programs

from compat import nn, optim, t7
from compat import torch as torch7

SMALL = ["batchSize=8", "ntrain=16", "niter=1", "ngf=4", "ndf=4", "nz=5"]


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    monkeypatch.chdir(tmp_path)
    with programs.program("dcgan", ("main", "models"), monkeypatch) as found:
        yield found


def trainer(program: SimpleNamespace, *words: str) -> SimpleNamespace:
    opt = program.main.parse([*SMALL, *words], {})
    torch7.manualSeed(opt.manualSeed)
    return program.main.Trainer(opt, program.main.images(opt))


def test_both_nets_are_in_files_after_an_epoch(program, capsys):
    assert program.main.main(SMALL) == 0
    assert capsys.readouterr().out.count("Epoch: [1]") == 2
    made = t7.load("checkpoints/experiment1_1_net_G.t7").forward(torch.randn(3, 5, 1, 1))
    assert made.shape == (3, 1, 16, 16)
    judged = t7.load("checkpoints/experiment1_1_net_D.t7").forward(made)
    assert judged.shape == (3, 1)


def test_nets_are_those_of_dcgan(program):
    netG = program.models.generator(100, 64, 3, 64)
    netD = program.models.discriminator(64, 3, 64)
    sizes = [layer.nOutputPlane for layer in netG.findModules("nn.SpatialFullConvolution")[0]]
    assert sizes == [512, 256, 128, 64, 3]
    sizes = [layer.nOutputPlane for layer in netD.findModules("nn.SpatialConvolution")[0]]
    assert sizes == [64, 128, 256, 512, 1]
    assert (len(netG), len(netD)) == (14, 14)
    assert netG.get(1).bias is None
    with pytest.raises(ValueError, match="fineSize is 20; 8, 16"):
        program.models.discriminator(4, 3, 20)


def test_the_discriminator_learns(program):
    taught = trainer(program, "lr=0.002")
    losses = []
    for _ in range(20):
        optim.adam(taught.fDx, taught.parametersD, taught.optimStateD)
        losses.append(taught.errD)
    assert losses[-1] < losses[0] / 2


def test_the_generator_learns_from_todays_discriminator(program):
    """Where no layer's gradient depends on what it kept but the last, that is plain to compute."""
    taught = trainer(program)
    taught.netD = nn.Sequential(nn.View(256).setNumInputDims(3), nn.Linear(256, 1), nn.Sigmoid())
    taught.parametersD, taught.gradParametersD = taught.netD.getParameters()
    optim.adam(taught.fDx, taught.parametersD, taught.optimStateD)
    seen = {}

    def noted(input: torch.Tensor, gradOutput: torch.Tensor) -> None:
        seen["gradient"] = gradOutput.clone()

    taught.netG.backward = noted
    output = taught.netD.output.clone()
    taught.fGx(taught.parametersG)
    # Of -mean(log D): the output as it was, the weight as it is.
    scores = -(1 - output) / len(output)
    expected = (scores @ taught.netD.get(2).weight).view(-1, 1, 16, 16)
    torch.testing.assert_close(seen["gradient"], expected)


def test_reads_folders_of_images(program, tmp_path):
    image = pytest.importorskip("PIL.Image")
    for i in range(3):
        image.new("RGB", (40 + 10 * i, 50), (255, 0, 0)).save(tmp_path / f"{i}.png")
    words = ["dataset=folder", f"DATA_ROOT={tmp_path}", "fineSize=8", "loadSize=12"]
    found = program.main.images(program.main.parse(words, {}))
    assert found.shape == (3, 3, 8, 8)
    torch.testing.assert_close(found[:, 0], torch.ones(3, 8, 8))
    torch.testing.assert_close(found[:, 1:], -torch.ones(3, 2, 8, 8))


def test_options_come_from_the_environment_and_the_command_line(program):
    opt = program.main.parse(["lr=0.1"], {"lr": "0.2", "niter": "7", "HOME": "/"})
    assert (opt.lr, opt.niter, opt.fineSize) == (0.1, 7, 16)
    for words, message in (
        (["niters=3"], "'niters=3' is no option"),
        (["niter=0"], "niter is 0; a whole number from 1 on"),
        (["lr=much"], "lr is 'much'; a number"),
        (["noise=pink"], "noise is 'pink'"),
    ):
        with pytest.raises(ValueError, match=message):
            program.main.parse(words, {})


def test_stops_when_a_loss_is_no_number(program, monkeypatch):
    monkeypatch.setattr(program.main.Trainer, "step", lambda self: setattr(self, "errG", torch.nan))
    with pytest.raises(ArithmeticError, match="try lr below"):
        program.main.main(SMALL)
    assert not Path("checkpoints").exists()
