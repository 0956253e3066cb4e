"""``dptable train``: train a network on several devices, or resume an interrupted run."""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from compat import accelerators, cutorch, nn, random
from compat.checks import listed, wrong_type
from dptable import checkpoints, data
from dptable import devices as hardware
from dptable.models import MODELS
from dptable.processes.job import Job, started_by_torchrun, started_with
from dptable.training import run_folder
from dptable.training.options import STATE, Options
from dptable.training.session import Session, new_folder
from dptable.training.trainer import Trainer, replicated


def run(args: argparse.Namespace) -> int:
    """Train, test and save. Return 0, or 130 after Ctrl-C."""
    _check_backend(args.backend, args.distributed)
    if not args.distributed:
        if (size := started_with()) > 1:
            raise RuntimeError(
                f"torchrun started {size} processes, each of which would train alone; "
                "give --distributed"
            )
        return _run(args, Job())
    with started_by_torchrun() as job, contextlib.ExitStack() as stack:
        gpus = _chosen_gpus(args.devices, 1, vars(args).get("ngpus"), job)
        job.join(args.backend or _backend(gpus, job), args.timeout)
        if job.rank:
            silence = stack.enter_context(open(os.devnull, "w"))
            stack.enter_context(contextlib.redirect_stdout(silence))
        return _run(args, job, gpus)


def _check_backend(name: str | None, distributed: bool) -> None:
    if name is None:
        return
    if not distributed:
        raise ValueError(f"backend is {name!r}; with --distributed, one is accepted")
    known = [n for n in dist.Backend.backend_list if n not in ("undefined", "fake")]
    for part in name.split(","):
        if part.rpartition(":")[2] not in known:
            raise ValueError(
                f"backend is {name!r}; {listed(known)}, or pairs such as 'cpu:gloo,cuda:nccl', are "
                "accepted"
            )


def _run(args: argparse.Namespace, job: Job, gpus: list[int] | None = None) -> int:
    with contextlib.ExitStack() as held:
        start = job.decided(lambda: _beginning(args, job, held))
        return _train(args, job, gpus, start)


def _train(args: argparse.Namespace, job: Job, gpus: list[int] | None, start: Beginning) -> int:
    opt, model = start.opt, start.model
    dataset = data.load(opt.data or None, zero_based=opt.labels_from_zero).normalized()
    if gpus is None:
        gpus = _chosen_gpus(args.devices, opt.ngpus, vars(args).get("ngpus"))
    hardware.warn_about_imbalance(gpus)

    random.manualSeed(opt.seed)
    cutorch.manualSeedAll(opt.seed)
    if model is None:
        special = (
            {"depth": opt.depth, "shortcut_type": opt.shortcut} if opt.model == "resnet" else {}
        )
        model = MODELS[opt.model](dataset.classes, *dataset.size, **special)
    threads = torch.get_num_threads()
    table = replicated(model, gpus, opt.threads).capture(opt.capture).compile(opt.compile)
    try:
        criterion = nn.CrossEntropyCriterion().type(table.type())
        trainer = Trainer(table, criterion, opt, start.optimState, job, start.slices)
        driven = job.everybody([str(cutorch.device(gpu)) for gpu in gpus])
        places = [place for mine in driven for place in mine]
        return Session(trainer, dataset, start.folder, start.latest, places).run()
    finally:
        table.close_group()
        table.close()
        torch.set_num_threads(threads)


class Beginning(NamedTuple):
    """The starting point of a run.

    Attributes:
        latest, model, optimState, slices: those of the checkpoint to resume from, if any.
        opt: the options.
        folder: the folder to write to, locked for this run.
    """

    latest: dict[str, Any]
    model: nn.Module | None
    optimState: dict[str, Any] | None
    slices: Path | None
    opt: Options
    folder: Path


def _beginning(args: argparse.Namespace, job: Job, held: contextlib.ExitStack) -> Beginning:
    """Read the checkpoint and options, and lock the folder until ``held`` is closed."""
    args = argparse.Namespace(**vars(args))
    if interrupted := _folder_of_the_last_attempt(args, job):
        args.resume = args.output = str(interrupted)
    if args.resume:
        checkpoints.table(args.resume)  # no folder is made for what is not there
    if (folder := _output_folder(args)) is not None:
        held.enter_context(run_folder.locked(folder))
    latest: dict[str, Any] = {}
    model, optimState, slices = None, None, None
    if args.resume:
        slices = checkpoints.slices(args.resume)
        if slices is None:
            latest, model, optimState = checkpoints.latest(args.resume)
        else:
            latest = checkpoints.table(args.resume)
    saved = latest.get("opt") or _options_in(optimState)
    if not isinstance(saved, dict):
        raise wrong_type(saved, "opt", "a table")
    _refuse_another_net(saved, args)
    opt = Options.merged(saved, vars(args))
    if vars(args).get("checkpoint_format") == "distributed":
        _refuse_slices(opt, job, described=model is None or "model" in saved)
    if folder is None:
        folder = new_folder(opt.model)
        held.enter_context(run_folder.locked(folder, new=True))
    return Beginning(latest, model, optimState, slices, opt, folder)


def _refuse_slices(opt: Options, job: Job, described: bool) -> None:
    if not opt.sharded or job.size == 1:
        raise ValueError(
            "checkpoint-format is 'distributed'; without --sharded processes, 't7' is accepted"
        )
    if not described:
        raise ValueError(
            "checkpoint-format is 'distributed'; for a net that no option names, 't7' is accepted"
        )


def _refuse_another_net(saved: dict[str, Any], args: argparse.Namespace) -> None:
    given = vars(args)
    for name in ("model", "depth", "shortcut"):
        if name in given and name in saved and given[name] != saved[name]:
            raise ValueError(
                f"{name} is {given[name]!r}; that of the net in {args.resume}, {saved[name]!r}, is "
                "accepted"
            )


def _folder_of_the_last_attempt(args: argparse.Namespace, job: Job) -> Path | None:
    """Return the folder of an earlier attempt's checkpoint, if torchrun restarts this job."""
    if not job.restarts:
        return None
    folders = (
        [Path(args.output or args.resume)] if args.output or args.resume else Path("runs").glob("*")
    )
    for folder in folders:
        if checkpoints.exists(folder) and job.left(checkpoints.table(folder)):
            return folder
    return None


def _backend(gpus: list[int], job: Job) -> str:
    """Return the backend between processes: NCCL if each process has its own GPUs, else gloo.

    Accelerators of another kind have a backend of their own.
    """
    places = [cutorch.device(gpu) for gpu in gpus]
    if not all(map(accelerators.is_accelerator, places)):
        return "gloo"
    kind = places[0].type
    if len(places) * job.local_size > accelerators.count(kind):
        return "gloo"
    return f"cpu:gloo,{kind}:{dist.get_default_backend_for_device(kind)}"


def _options_in(optimState: dict[str, Any] | None) -> dict[str, Any]:
    """Return the options in an optimizer's state, for a script's checkpoint without options."""
    if not optimState:
        return {}
    told = {name: optimState[key] for name, key in STATE.items() if key in optimState}
    return {"schedule": "constant", **told}


def _chosen_gpus(
    devices: str | None, ngpus: int, asked: int | None = None, job: Job | None = None
) -> list[int]:
    """Return the GPU ids of a list like "1,2" or "cpu,cpu", or the first ``ngpus`` devices.

    Names become the list of logical devices. If there are fewer than ``ngpus``, devices are used
    several times and are listed so, too. "auto" chooses the best devices, as many as were ``asked``
    for. In a job of several processes the result is this process's share of the list; without a
    list, ``asked`` of all devices.
    """
    if devices == "auto":
        best = hardware.choose(asked and asked * (job.local_size if job else 1))
        cutorch.configure(job.devices(best) if job else best)
        return list(range(1, len(cutorch.devices()) + 1))
    if devices is None:
        listed = cutorch.devices()
        if job is not None:
            cutorch.configure(job.devices(listed, asked))
            return list(range(1, len(cutorch.devices()) + 1))
        if ngpus > len(listed):
            cutorch.configure([listed[i % len(listed)] for i in range(ngpus)])
        return list(range(1, ngpus + 1))
    names = [name.strip() for name in devices.split(",")]
    if job is not None:
        names = job.devices(names)
    if asked is not None and asked != len(names):
        raise ValueError(
            f"ngpus is {asked}, devices lists {len(names)}; one of the two options is accepted"
        )
    if all(name.isdigit() for name in names):
        gpus = [int(name) for name in names]
        for gpu in gpus:
            cutorch.device(gpu)
        return gpus
    cutorch.configure(names)
    return list(range(1, len(names) + 1))


def _output_folder(args: argparse.Namespace) -> Path | None:
    """Return the folder to write to, if it was named; raise an error if it holds another run."""
    if args.output is None and args.resume is not None:
        return Path(args.resume)
    if args.output is not None:
        if checkpoints.exists(args.output) and not _same_folder(args.output, args.resume):
            raise FileExistsError(
                f"{args.output} holds a checkpoint: go on with it by --resume {args.output}, "
                "or name another folder as --output"
            )
        return Path(args.output)
    return None


def _same_folder(one: str, other: str | None) -> bool:
    return other is not None and Path(one).resolve() == Path(other).resolve()
