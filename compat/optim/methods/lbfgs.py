"""Limited-memory BFGS."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.unsliced_fields import declare_unsliced
from compat.optim.support.vectors import buffer, flat, same_class

# One for each step of the history.
NUMBERS = ("ro", "al")
declare_unsliced(*NUMBERS)


def lbfgs(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list[float], int]:
    """Minimise by limited-memory BFGS (after Schmidt's minFunc), Torch7's ``optim.lbfgs``.

    Without a line search the steps have the fixed length ``learningRate``, and the loss is not
    evaluated after the last step.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the start, updated in place.
        config: ``maxIter`` (20); ``maxEval`` (1.25 * maxIter); ``tolFun`` (1e-5), the sum of the
            absolute gradient to stop at; ``tolX`` (1e-9), the progress to stop at; ``nCorrection``
            (100), the length of the history; ``learningRate`` (1); ``lineSearch``, a function such
            as ``optim.lswolfe``, and its ``lineSearchOptions``; ``verbose`` (False).
        state: ``funcEval``, ``nIter``, ``tmp1``, ``dir_bufs``, ``stp_bufs``, ``ro``, ``al``, ``d``,
            ``t``, ``old_dirs``, ``old_stps``, ``Hdiag``, ``g_old``, ``f_old``; default: ``config``.
            As in Torch7, ``old_dirs`` holds the past steps, and ``old_stps`` the changes of the
            gradient.

    Returns:
        ``x``, the list of losses, and the number of evaluations.

    Raises:
        TypeError: ``lineSearch`` is not a function.

    Differs from Torch7: the number of evaluations is returned even if ``x`` is already optimal.
    """
    config, state = tables(config, state)
    max_iter = int(option(config, "maxIter", 20))
    max_eval = float(option(config, "maxEval", max_iter * 1.25))
    tol_fun, tol_x = option(config, "tolFun", 1e-5), option(config, "tolX", 1e-9)
    history = option(config, "nCorrection", 100)
    learning_rate = option(config, "learningRate", 1)
    line_search = config.get("lineSearch")
    if line_search and not callable(line_search):
        raise TypeError(
            f"config['lineSearch'] is {line_search!r}; a function such as optim.lswolfe is accepted"
        )
    verbose = option(config, "verbose", False)

    def tell(news: str) -> None:
        if verbose:
            print(f"<optim.lbfgs> \t{news}")

    def stop(reason: str) -> bool:
        tell(reason)
        return True

    fx, g = evaluate(opfunc, x)
    f = float(fx)
    losses, evals = [f], 1
    state["funcEval"] = option(state, "funcEval", 0) + 1
    state["nIter"] = option(state, "nIter", 0)
    vector = flat(x)
    tmp = buffer(state, "tmp1", x, shape=vector.shape)
    if float(torch.abs(g, out=tmp).sum()) <= tol_fun:
        stop("optimality condition below tolFun")
        return x, losses, evals

    if "dir_bufs" not in state:
        tell("creating recyclable direction/step/history buffers")
    free_steps = _buffers(state, "stp_bufs", x, history + 1)
    free_changes = _buffers(state, "dir_bufs", x, history + 1)
    steps, changes = _buffers(state, "old_dirs", x), _buffers(state, "old_stps", x)
    d, g_old = (buffer(state, key, x, shape=vector.shape) for key in ("d", "g_old"))
    ro, al = (_numbers(state, key, history) for key in NUMBERS)
    t, diagonal = option(state, "t", 0), option(state, "Hdiag", 1)
    f_old = option(state, "f_old", f)

    for iteration in range(1, max_iter + 1):
        state["nIter"] += 1
        if state["nIter"] == 1:
            torch.neg(g, out=d)
            diagonal = 1
        else:
            change, step = free_changes.pop(), free_steps.pop()
            torch.sub(g, g_old, out=change)
            torch.mul(d, t, out=step)
            curvature = float(change.dot(step))
            if curvature > 1e-10:
                if len(steps) == history:
                    free_changes.append(steps.pop(0))
                    free_steps.append(changes.pop(0))
                steps.append(step)
                changes.append(change)
                diagonal = curvature / float(change.dot(change))
            else:
                free_changes.append(change)
                free_steps.append(step)
            for i, (change, step) in enumerate(zip(changes, steps, strict=True)):
                ro[i] = 1 / float(change.dot(step))
            q = torch.neg(g, out=tmp)
            for i in reversed(range(len(steps))):
                al[i] = float(steps[i].dot(q)) * ro[i]
                q.sub_(changes[i], alpha=al[i])
            torch.mul(q, diagonal, out=d)
            for i in range(len(steps)):
                be = float(changes[i].dot(d)) * ro[i]
                d.add_(steps[i], alpha=al[i] - be)
        g_old.copy_(g)
        f_old = f

        slope = float(g.dot(d))
        if slope > -tol_x:
            break
        t = learning_rate
        if state["nIter"] == 1:
            t *= min(1, 1 / float(torch.abs(g, out=tmp).sum()))

        new_evals = 0
        if line_search:
            fx, new_g, new_x, t, new_evals = line_search(
                opfunc, x, t, d.view_as(x), f, g.view_as(x), slope, config.get("lineSearchOptions")
            )
            g = new_g.reshape(-1)
            if new_x is not x:
                vector.copy_(new_x.reshape(-1))
        else:
            vector.add_(d, alpha=t)
            if iteration != max_iter:
                fx, g = evaluate(opfunc, x)
                new_evals = 1
        if new_evals:
            f = float(fx)
            losses.append(f)
        evals += new_evals
        state["funcEval"] += new_evals

        if (
            (iteration == max_iter and stop("reached max number of iterations"))
            or (evals >= max_eval and stop("max nb of function evals"))
            or (
                float(torch.abs(g, out=tmp).sum()) <= tol_fun
                and stop("optimality condition below tolFun")
            )
            or (
                float(torch.mul(d, t, out=tmp).abs_().sum()) <= tol_x
                and stop("step size below tolX")
            )
            or (abs(f - f_old) < tol_x and stop("function value changing less than tolX"))
        ):
            break

    state.update(t=t, Hdiag=diagonal, f_old=f_old)
    state["ro"][: len(ro)] = torch.tensor(ro, dtype=torch.float64)
    state["al"][: len(al)] = torch.tensor(al, dtype=torch.float64)
    return x, losses, evals


def _buffers(state: Table, key: str, like: torch.Tensor, new: int = 0) -> list[torch.Tensor]:
    """Return the vectors in ``state[key]``; ``new`` ones if there is no such list."""
    found = state.get(key)
    if found is None:
        # One block, as in Torch7, so that a file has it as one storage.
        rows = torch.empty(new, like.numel(), dtype=like.dtype, device=like.device)
        state[key] = [same_class(row, like) for row in rows]
    else:
        # An empty table of a file is a dict.
        state[key] = [v.to(like) for v in found] if found else []
    return state[key]


def _numbers(state: Table, key: str, count: int) -> list[float]:
    """Return the numbers in the double tensor ``state[key]``, or zeros."""
    found = state.get(key)
    if found is None or found.numel() < count:
        state[key] = torch.zeros(count, dtype=torch.float64)
    return state[key].tolist()
