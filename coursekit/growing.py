"""The student's own model, which grows through the course: `my_model.py` in the folder of the notebooks.

    keep(FeedForward, Block)                         # 03: writes the classes of the notebook into the file
    Block = mine("Block")                              # 06: your class, or the course's if yours is missing or wrong

and the functions that a check needs to examine a class:

    check("transformer.block", lambda case: run_module(Block, case, "x", "keep"))
    check("gpt.gpt", lambda case: run_cached(GPT, case, "ids", "other"))
    check("decoders.cache", lambda case: run_cache(Cache, case), gradients=["k", "v"])
"""

import ast
import linecache
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checks import recording
from autograder.checks.storing import write_aside
from coursekit import modules

FILE = "my_model.py"
HEAD = '''"""My model, as it grows through the course. The notebooks write it with `keep` and read it with `mine`."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, relu, scaled_dot_product_attention, softmax
'''
MARK = "# --- {} ---"
MARKS = re.compile(r"^# --- (\w+) ---\n", re.MULTILINE)
WEIGHTS = "weights."
"""The prefix of the names of weights among the inputs of a check."""
TOLERANCE = 1e-4
NOTHING = torch.zeros(0)
"""Returned by a check where there is no gradient, or no output that depends on the weights of the case."""
BACK = "gradient with respect to {} (detach, no_grad and .data block it)"
"""The name of an answer of `run_module`."""


@dataclass(frozen=True)
class Trial:
    """How a student's class or function is compared with the course's own: the results of both for the same inputs."""

    own: Any
    ask: Callable[[Any], dict[str, Tensor]]


def trials() -> dict[str, Trial]:
    """The trial of each class and function that one notebook saves and a later one needs."""
    random = torch.Generator().manual_seed(0)
    x, draws = torch.randn(2, 5, 8, generator=random), torch.rand(2, 5, 8, generator=random)
    keep = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, :]
    ids = torch.randint(11, (2, 5), generator=random)
    sizes = {"dim": 8, "heads": 2}
    activations = [{"activation": name} for name in modules.ACTIVATIONS]
    layers = [{}, {"norm_first": True}, {"eps": 0.1}, {"dropout": 0.5}, *activations]
    return {
        "MultiHeadAttention": of_module(modules.MultiHeadAttention, sizes, [{}], x, keep),
        "FeedForward": of_module(modules.FeedForward, {"dim": 8, "inner": 12}, activations, x),
        "Dropout": of_module(modules.Dropout, {"p": 0.5}, [{}], x, draws, train=True),
        "Block": of_module(modules.Block, sizes | {"inner": 12}, layers, x, keep),
        "Embeddings": of_module(modules.Embeddings, {"vocabulary": 11, "tokens": 7, "dim": 8}, [{}], ids),
        "collate": Trial(modules.collate, one_batch),
        "training_step": Trial(modules.training_step, some_steps),
    }


def of_module(
    own: type[nn.Module],
    sizes: Mapping[str, Any],
    choices: Sequence[Mapping[str, Any]],
    *inputs: Tensor,
    train: bool = False,
) -> Trial:
    """Build a class with these sizes and each of the choices, load the weights of the course's own class, and run it."""

    def ask(cls: type[nn.Module]) -> dict[str, Tensor]:
        outputs = {}
        for choice in choices:
            with torch.random.fork_rng():
                torch.manual_seed(0)
                weights = own(**sizes, **choice).state_dict()
            module = cls(**sizes, **choice)
            module.load_state_dict(weights)
            how = "with " + ", ".join(f"{name}={value!r}" for name, value in choice.items()) if choice else ""
            with torch.no_grad():
                outputs[how] = module.eval()(*inputs)
                if train:
                    outputs["in training"] = module.train()(*inputs)
        return outputs

    return Trial(own, ask)


def one_batch(collate: Callable[..., tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
    """The result for three rows, one of which is empty and one of which contains the id 0."""
    ids, real = collate([[3, 0], [], [1, 2, 5, 4]])
    return {"": ids.double(), "in the mask": real.double()}


def some_steps(step: Callable[..., float]) -> dict[str, Tensor]:
    """The losses of three steps on a table of logits, each with its own learning rate and maximum norm of the gradient."""
    random = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        table = nn.Embedding(7, 7)
    optimiser = torch.optim.SGD([{"params": table.parameters()}], lr=100.0)
    losses = []
    for rate, most in ((0.5, 1e3), (2.0, 0.1), (1.0, 1e3)):
        ids, targets = torch.randint(7, (2, 3, 4), generator=random)
        losses.append(step(table, (ids, targets, ids > 1), optimiser, rate, most))
    return {"": torch.tensor(losses), "in the weights": table.weight.detach()}


# ------------------------------------------------------------------------------------------------- the file


def path() -> Path:
    """The path of my_model.py: next to the notebooks' folders, or in the folder AUTOGRADER_HOME."""
    if home := os.environ.get("AUTOGRADER_HOME"):
        return Path(home) / FILE
    here = Path.cwd()
    return (here.parent if re.match(r"\d\d_", here.name) else here) / FILE


def keep(*things: Any) -> None:
    """Write classes and functions of the notebook into my_model.py, replacing those of the same name.

    Anything that you have written above the first of them is preserved.
    """
    names = ", ".join(thing.__name__ for thing in things)
    try:
        head, parts = read_file()
        parts |= {thing.__name__: source_of(thing) for thing in things}
        sections = (f"{MARK.format(name)}\n{source}\n" for name, source in parts.items())
        write_aside(path(), "\n\n".join([head, *sections]).encode())
    except OSError as error:
        print(f"{names} could not be kept: {path()} cannot be written ({error.strerror}).")
    except UnicodeDecodeError:
        print(
            f"{names} could not be kept: {path()} is not UTF-8 text. Move this file away and call `keep` again."
        )
    else:
        print(f"Kept in {path().absolute()}: {names}.")


def read_file() -> tuple[str, dict[str, str]]:
    """The head of my_model.py, and its parts by name. Raises OSError and UnicodeDecodeError."""
    text = path().read_text(encoding="utf-8") if path().exists() else HEAD
    head, *pieces = MARKS.split(text)
    sources = zip(pieces[::2], pieces[1::2], strict=True)
    return head.rstrip("\n") + "\n", {name: source.strip() for name, source in sources}


def read_parts() -> dict[str, str]:
    """The parts of my_model.py by name; empty if the file cannot be read."""
    try:
        return read_file()[1]
    except (OSError, UnicodeDecodeError):
        return {}


def source_of(thing: Any) -> str:
    """The lines of the cell that define a class or function."""
    functions = [thing, *vars(thing).values()] if isinstance(thing, type) else [thing]
    files = [function.__code__.co_filename for function in functions if hasattr(function, "__code__")]
    text = "".join(linecache.getlines(files[0])) if files else ""
    for node in reversed(ast.parse(text).body):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == thing.__name__:
            first = min(part.lineno for part in (node, *node.decorator_list))
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    raise ValueError(
        f"{thing.__name__} is not defined in any cell: run the cell that defines it, then call `keep` again."
    )


# ------------------------------------------------------------------------------------------------- what it holds


def mine(*names: str) -> Any:
    """Your own classes and functions from my_model.py. If one is missing or wrong, a message says so and you get the course's.

    Returns a single object for one name, otherwise a tuple in the order of the names.
    """
    compared = trials()
    if strange := [name for name in names if name not in compared]:
        raise ValueError(
            f"mine({strange[0]!r}): the course has no object of this name to compare yours with. Choose from {', '.join(compared)}."
        )
    if (
        recording.active() is not None
    ):  # grading and the building of keys must not depend on an earlier notebook
        own = tuple(compared[name].own for name in names)
        return own[0] if len(own) == 1 else own
    found = load_all(read_parts())
    chosen, lines = [], []
    for name in names:
        trial = compared[name]
        problem = found[name] if isinstance(found.get(name), str) else complaint(found.get(name), trial)
        chosen.append(trial.own if problem else found[name])
        lines.append(f"{name}: {f'the course’s version is used, because {problem}' if problem else 'yours'}")
    print("\n".join(lines))
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


def load_all(parts: Mapping[str, str]) -> dict[str, Any]:
    """The object that each part defines, or a sentence that explains why it defines none. A broken part does not affect the others."""
    names: dict[str, Any] = {}
    exec(HEAD, names)
    found: dict[str, Any] = {}
    for name, source in parts.items():
        try:
            exec(compile(source, str(path()), "exec"), names)
            found[name] = names[name]
        except Exception as error:
            found[name] = f"yours in {FILE} does not run: {type(error).__name__}: {error}"
    return found


def complaint(thing: Any, trial: Trial) -> str:
    """The reason why it cannot replace the course's own object; "" if it can."""
    if thing is None:
        return f"{FILE} does not contain yours yet"
    try:
        yours = trial.ask(thing)
        for how, right in trial.ask(trial.own).items():
            difference = (yours[how] - right).abs().max().item()
            if not difference < TOLERANCE:  # NaN, too
                return (
                    " ".join(f"yours gives different results {how}".split())
                    + f" (they differ by up to {difference:.2g})"
                )
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        return f"yours stops with {type(error).__name__}: {' '.join(first[:2])[:200]}"
    return ""


# ------------------------------------------------------------------------------------------------- checks


def build(cls: type[nn.Module], case: Mapping[str, Any]) -> tuple[nn.Module, Tensor]:
    """The class with the sizes of `case["config"]` and the weights among the inputs ("weights.NAME").

    Also how each of these weights is registered, in the order of their names: 2 as a parameter, 1 as a buffer, 3 as one
    that is not saved, 0 not at all or in another shape; and, last, what the module has beside them: how many numbers of
    parameters, or else what it would save too: -1 a buffer, -2 one of the weights under a second name.
    """
    try:
        module = cls(**case["config"])
    except AttributeError as error:
        if "before Module.__init__() call" not in str(error):
            raise
        raise AttributeError(
            f"`__init__` of {cls.__name__} creates layers before it has called `super().__init__()`. Make that its first line."
        ) from None
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"{cls.__name__}(…) returns a {type(module).__name__}, not an nn.Module: does its class inherit from `nn.Module`?"
        )
    weights = weights_of(case)
    parameters, buffers = dict(module.named_parameters(remove_duplicate=False)), dict(module.named_buffers())
    registered, saved = [], module.state_dict() if buffers else {}
    with torch.no_grad():
        for name, value in weights.items():
            place = parameters.get(name, buffers.get(name))
            fits = place is not None and place.shape == value.shape
            registered.append(0 if not fits else 2 if name in parameters else 1 if name in saved else 3)
            if fits:
                place.copy_(value)
    loaded = {id(parameters[name]) for name in weights if name in parameters}
    missing = {name: weights[name].shape for name, code in zip(weights, registered, strict=True) if not code}
    more = {name: value.shape for name, value in parameters.items() if id(value) not in loaded}
    if missing and sorted(missing.values()) == sorted(more.values()):
        raise AttributeError(
            f"the parameters do not have the names that the docstring asks for. Missing: {_quoted(missing)}. The module has "
            f"{_quoted(more)} instead. Rename its layers."
        )
    others = {id(value): value.numel() for value in parameters.values() if id(value) not in loaded}
    return module, torch.tensor([*registered, sum(others.values()) or saves_more(module, weights)])


def _quoted(names: Collection[str]) -> str:
    """The first three names, and how many more there are."""
    shown = [f"`{name}`" for name in names]
    return ", ".join(shown[:3]) + (f" and {len(shown) - 3} more" if len(shown) > 3 else "")


def output_of(module: nn.Module, *inputs: Tensor) -> Any:
    """The output of `forward`. Raises TypeError with a sentence if it returns nothing."""
    output = module(*inputs)
    if output is None:
        raise TypeError("`forward` returns nothing: is a `return` missing?")
    return output


def whole_numbers(given: Any, function: str) -> list[int]:
    """The result of a student's function as a list of whole numbers. Raises TypeError with a sentence if it is not such a list."""
    try:
        return [int(number) for number in given]
    except (TypeError, ValueError):
        shown = " ".join(repr(given).split())
        raise TypeError(
            f"{function} should return whole numbers, in a list or tuple; yours returns {shown[:60]}."
        ) from None


def weights_of(case: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights of a case, sorted by their names, because a key does not preserve the order of a case."""
    return {name.removeprefix(WEIGHTS): case[name] for name in sorted(case) if name.startswith(WEIGHTS)}


def saves_more(module: nn.Module, weights: Mapping[str, Tensor]) -> int:
    """-1 if a buffer that is not among the weights is saved with the module, and then asked for when it is loaded; -2 if one
    of the weights is saved under a second name, as tied tables are; else 0."""
    more = module.state_dict().keys() - weights.keys()
    buffers = {name for name, _ in module.named_buffers(remove_duplicate=False)}
    return 0 if not more else -1 if more & buffers else -2


def cut_off(registered: Tensor, output: Tensor) -> Tensor:
    """`registered`, with 4 for parameters from which nothing leads to the output: no step of training could change them."""
    cut = isinstance(output, Tensor) and not output.requires_grad
    return torch.where(
        (registered == 2) & cut & (torch.arange(len(registered)) < len(registered) - 1), 4, registered
    )


def after_backward(module: nn.Module, case: Mapping[str, Any], registered: Tensor, loss: Tensor) -> Tensor:
    """`registered`, with 4 for parameters that get no gradient from this loss, whose gradients are in the module afterwards."""
    if loss.requires_grad:
        loss.backward()
    places = dict(module.named_parameters(remove_duplicate=False))
    cut = [name in places and places[name].grad is None for name in weights_of(case)]
    return torch.where(torch.tensor([*cut, False]) & (registered == 2), 4, registered)


def run_module(
    cls: type[nn.Module],
    case: Mapping[str, Any],
    *inputs: str,
    modes: tuple[str, ...] = ("eval",),
    gradient: bool = False,
    back_to: Sequence[str] = (),
) -> dict[str, Tensor]:
    """The results that a check needs from a class: `registered` (see `build`, `cut_off`) and its output on `case[inputs]` in each mode.

    modes     "eval", "train" or both: one output each, by the name of the mode.
    gradient  Also the gradient, through the output's sum of squares, with respect to each weight of the case.
    back_to   Some of the inputs: also the gradient of the first output's sum of squares with respect to each, which shows whether gradients flow from the output to this input. The answer's name says what may cut them off.
    If a module lacks one of the weights, it contains random numbers, and none of its outputs are returned.
    """
    module, registered = build(cls, case)
    answers = {"registered": registered}
    complete = bool((registered[:-1] > 0).all())
    followed = {name: case[name].clone().requires_grad_() for name in back_to}
    for mode in modes:
        module.train(mode == "train")
        given = {name: x.clone() for name, x in followed.items()} if mode == modes[0] else {}
        output = output_of(module, *((case | given)[name] for name in inputs))
        write_back(given, case)
        answers[mode] = output if complete else NOTHING
        answers["registered"] = cut_off(registered, output)
    for name, x in followed.items():
        answers[BACK.format(name)] = slope_at(x, answers[modes[0]]) if complete else NOTHING
    if gradient:
        loss = sum(answers[mode].square().sum() for mode in modes)
        places = dict(module.named_parameters(remove_duplicate=False))
        if complete:
            loss.backward()
        for name in weights_of(case):
            place = places.get(name)
            has_one = complete and place is not None and place.grad is not None
            answers[f"gradient of {name}"] = place.grad if has_one else NOTHING
    return answers


def write_back(given: Mapping[str, Tensor], case: Mapping[str, Any]) -> None:
    """Copy anything that a module has written into its copies back into the inputs of a case, because the check looks for changes."""
    for name, x in given.items():
        case[name].copy_(x.detach())


def slope_at(x: Tensor, output: Tensor) -> Tensor:
    """The gradient of the output's sum of squares with respect to x; zeros if the output does not depend on x."""
    if not output.requires_grad:
        return torch.zeros_like(x)
    try:
        (slope,) = torch.autograd.grad(output.square().sum(), x, allow_unused=True, retain_graph=True)
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
        raise RuntimeError(
            "your module cannot be trained: a line such as `x += …` overwrites numbers that the gradient still needs. Write "
            "`x = x + …`, which makes a new tensor."
        ) from None
    return torch.zeros_like(x) if slope is None else slope


def run_cached(
    cls: type[nn.Module], case: Mapping[str, Any], text: str, other: str, gradient: Sequence[str] = ()
) -> dict[str, Tensor]:
    """The results that a check needs from a class with a cache: `reset(cached=True)` begins a text, `reset()` ends it.

    `case[text]` is read twice as a whole, without a cache; then with a cache in pieces of `case["pieces"]` tokens, followed by
    `case[other]` as a separate text; then the latter is read twice as a whole. `gradient` lists the weights for which the gradient
    of the first reading's sum of squares is returned; if the text consists of vectors, the gradient with respect to them is always returned. If the case contains "beside", `case[text]` is read in pieces
    once more, and after its first piece another module of the class reads this text. A module that lacks a weight of the case, or has an additional
    one, returns nothing. Because each reading takes time, a case may select some of those after the first with `case["readings"]`.
    """
    module, registered = build(cls, case)
    whole = bool((registered[:-1] > 0).all()) and registered[-1] <= 0
    module.eval()

    def in_pieces(whole_text: Tensor, between: Callable[[], object] = lambda: None) -> Tensor:
        module.reset(cached=True)
        first, *rest = whole_text.split(case["pieces"], dim=1)
        read = [module(first)]
        between()
        return torch.cat([*read, *map(module, rest)], dim=1)

    def another_reads() -> None:
        another = cls(**case["config"]).eval()
        another.reset(cached=True)
        another(case["beside"])

    vectors = case[text].is_floating_point()
    read = case[text].clone().requires_grad_(vectors)
    given = {text: read.clone()}
    first = output_of(module, given[text])
    write_back(given, case)
    slope_of_text = {BACK.format(text): slope_at(read, first)} if vectors else {}
    if gradient and whole:
        first.square().sum().backward()

    def after_reset() -> Tensor:
        if not registered[-1]:
            registered[-1] = saves_more(module, weights_of(case))
        module.reset()
        return module(case[other])

    readings = {
        "once more": lambda: module(case[text]),
        "in pieces": lambda: in_pieces(case[text]),
        "a second text in pieces": lambda: in_pieces(case[other]),
        "in pieces, beside another model": lambda: in_pieces(case[text], another_reads),
        "after reset()": after_reset,
        "once more after reset()": lambda: module(case[other]),
    }
    chosen = case.get("readings", [name for name in readings if "beside" in case or "beside" not in name])
    with torch.no_grad():
        answers = {"at once": first.detach(), **slope_of_text} | {
            name: readings[name]() for name in readings if name in chosen
        }
    places = dict(module.named_parameters()) if gradient else {}
    for name in gradient:
        slope = places[name].grad if name in places else None
        answers[f"gradient of {name}"] = NOTHING if slope is None else slope
    if not whole:
        answers = dict.fromkeys(answers, NOTHING)
    return {"registered": cut_off(registered, first)} | answers


def run_cache(cls: type, case: Mapping[str, Any]) -> dict[str, Tensor]:
    """The results that a check needs from a cache with the methods `reset`, `tokens` and `extend`.

    `case["k"]` and `case["v"]` are passed twice to a new cache; then, after `reset(cached=True)`, in pieces of `case["pieces"]`
    tokens, between which another cache of the class gets the same tokens; then `other_k` and `other_v` in pieces as a second
    text; then these twice after `reset()`. For each, the answers contain the last keys and values that `extend` returned, and
    the numbers of tokens before each call and after the last one. Only those of the new cache have gradients.
    """
    cache, another = cls(), cls()
    answers: dict[str, Tensor] = {}

    def read(name: str, calls: Sequence[tuple[Tensor, Tensor]], beside: Any = None) -> None:
        tokens = [cache.tokens()]
        for k, v in calls:
            returned = cache.extend(k, v)
            if not isinstance(returned, tuple | list) or len(returned) != 2:
                raise TypeError("`extend` should return two tensors, the keys and the values.")
            if beside:
                beside.extend(v, k)
            tokens.append(cache.tokens())
        counted = torch.tensor(whole_numbers(tokens, "tokens"))
        answers.update(
            {f"{name}, keys": returned[0], f"{name}, values": returned[1], f"{name}, tokens": counted}
        )

    def pieces(k: Tensor, v: Tensor) -> list[tuple[Tensor, Tensor]]:
        return list(zip(k.split(case["pieces"], dim=2), v.split(case["pieces"], dim=2), strict=True))

    first, second = (case["k"], case["v"]), (case["other_k"], case["other_v"])
    read("a new cache", [first, first])
    with torch.no_grad():
        cache.reset(cached=True)
        another.reset(cached=True)
        read("a text in pieces", pieces(*first), another)
        cache.reset(cached=True)
        read("a second text in pieces", pieces(*second))
        cache.reset()
        read("after reset()", [second, second])
    return answers
