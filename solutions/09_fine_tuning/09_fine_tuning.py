# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Fine-tuning
#
# A pre-trained encoder has learned a language but no task. We therefore add a small new head and continue training: either only the head, or also the upper layers, or the whole model. The best choice depends on
# the number of labels and on how different the task is from pre-training. Training the encoder further also makes it forget. We measure accuracy and forgetting over several seeds and report which differences
# exceed the noise.
#
# **You need** notebooks 06 and 08. **Time** about 85 minutes for the core: eight exercises, one of which is a bug to fix, and two written questions. Sections marked *Further* and three
# extensions are optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [08 · Inside a pre-trained transformer](../08_inside/08_inside.ipynb) · next: [10 · Applications: sentiment, entities, questions](../10_applications/10_applications.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - add a head to an encoder, freeze parts of the model, and count the trainable parameters;
# - set up an optimiser as BERT's authors did: parameter groups, weight decay, warm-up, clipping;
# - compare four strategies by their accuracy, forgetting, time and trainable parameters, with confidence intervals;
# - recognise a learning rate that is too large, and use the class `Trainer` from transformers.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from coursekit import check, hint, predict, predictions, reveal

# %% [markdown]
# ## 1 · Two phases and a head
#
# Self-supervised pre-training finds weights θ_pre with which the model predicts words. Fine-tuning starts from θ_pre and continues training on labelled examples of a task, which leads to θ*. Applying what a model has learned on one task to another task is called **transfer learning**. Radford et al. (2018) call the combination of raw text and labels **semi-supervised** learning. Only the *head* is new: a linear map from
# one vector to C classes, initialised at random. BERT's head receives the vector of [CLS] after the pooler (see notebook 06), with dropout during training (Devlin et al. 2019,
# section 4.1; the pooler and the dropout appear only in the authors' code).

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-classification_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def classification_head(
    hidden: Float[Tensor, "B T D"],
    W_pool: Float[Tensor, "D D"],
    b_pool: Float[Tensor, "D"],
    W: Float[Tensor, "D C"],
    b: Float[Tensor, "C"],
    draws: Float[Tensor, "B D"],
    p: float,
) -> Float[Tensor, "B C"]:
    """Compute the logits of C classes from the last layer's vectors.
    (difficulty ●●○, 6 minutes)

    Apply the pooler to the vector of [CLS], the first token: a linear map (the rows of W_pool
    correspond to inputs), then tanh. Then apply dropout: set an entry to 0 where its draw,
    uniform in [0, 1), is below p, and divide the others by 1 − p. Finally apply the new linear
    map W, b. For evaluation p is 0. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    pooled = torch.tanh(hidden[:, 0] @ W_pool + b_pool)
    dropped = pooled * (draws >= p) / (1 - p)
    return dropped @ W + b
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-classification_head-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.classification_head", lambda case: classification_head(**case),
      gradients=["hidden", "W_pool", "b_pool", "W", "b"])

# %% [markdown]
# We attach your head to the small BERT of notebook 06 and compute its loss before any training. With random labels for two classes, no model can achieve an expected loss below log 2. The loss of the new head is
# only slightly higher. An initial loss far above log C would indicate that the head was initialised with weights that are too large.

# %% tags=["demo", "record"]
from copy import deepcopy
from time import process_time

import numpy as np

from coursekit.language import PAD, load_language
from coursekit.small import BERT, load as load_small
from coursekit.small.bert import single

language, bert = load_language(), load_small("bert")

class Classifier(torch.nn.Module):
    """An encoder, given as named parts, with a new, randomly initialised head."""

    def __init__(self, read: Callable, embeddings, layers, pooler, classes: int):
        super().__init__()
        self.read = read  # ids -> hidden, with these parts
        self.embeddings, self.layers, self.pooler = embeddings, layers, pooler
        self.head = torch.nn.Linear(pooler.out_features, classes)
        torch.nn.init.normal_(self.head.weight, std=0.02)
        torch.nn.init.zeros_(self.head.bias)

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B C"]:
        W_pool, b_pool = self.pooler.weight.T, self.pooler.bias
        draws, p = torch.rand(len(ids), len(b_pool)), 0.1 if self.training else 0.0
        return classification_head(
            self.read(ids), W_pool, b_pool, self.head.weight.T, self.head.bias, draws, p
        )

def on_small_bert(whole: BERT, classes: int) -> Classifier:
    """A classifier that shares its parts with a small BERT, so that BERT's old head can
    still be evaluated."""
    def read(ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return whole.encode(whole.embeddings(ids, torch.zeros_like(ids)), ids != PAD)[-1]
    return Classifier(
        read, whole.embeddings, whole.layers, whole.next_sentence.pooler, classes
    )

# %% tags=["demo"]
import pandas as pd
from IPython.display import display

from coursekit.pictures import fine_tuning as pictures, fine_tuning_tables as tables
from coursekit.plots import use_style

use_style()
torch.set_num_threads(1)
torch.manual_seed(0)
sentences = language.sample(500, np.random.default_rng(0), split="train")
coin = torch.randint(2, (500,), generator=torch.Generator().manual_seed(0))
with torch.no_grad():
    logits = on_small_bert(deepcopy(bert), 2).eval()(single(torch.from_numpy(sentences.ids)))
first_loss = torch.nn.functional.cross_entropy(logits, coin).item()
print(f"loss before training {first_loss:.3f}; log 2 = {np.log(2):.3f}")

# %% [markdown]
# ## 2 · Counting parameters
#
# How many parameters does a head add? The checks of this notebook use a *miniature*, a model whose parts are named like those of an encoder. Its parameters can be counted and frozen, but it does not process text.

# %%
from coursekit.miniature import (
    decisions, difference_from_adamw, difference_from_transformers, frozen_by, groups_of,
    miniature, plan, run_adam, several_steps, sorted_batches, step_lengths,
)

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-count_parameters", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_parameters(model: torch.nn.Module) -> tuple[int, int]:
    """The numbers of parameters: (all, trainable).  (difficulty ●○○, 4 minutes)

    A parameter is trainable if it requires a gradient. A matrix shared by two parts of the
    model counts once. Buffers do not count, since no optimiser changes them.
    """
    ### BEGIN SOLUTION
    sizes = [(weight.numel(), weight.requires_grad) for weight in model.parameters()]
    return sum(size for size, _ in sizes), sum(size for size, learns in sizes if learns)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-count_parameters-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.count_parameters", lambda case: count_parameters(miniature(case)))

# %% [markdown]
# We now build two encoders from their configurations on the *meta* device (introduced in notebook 06), each with a head for two classes: BERT-Base, and MiniLM, the encoder that comes with this course.
#
# **Predict:** how many parameters does the new head of BERT-Base have?

# %% tags=["demo"]
predict("fine_tuning.head", ...)

# %% tags=["demo"]
from transformers import BertConfig, BertForSequenceClassification

configs = {
    "BERT-Base": BertConfig(
        vocab_size=30_522, hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
        intermediate_size=3072, max_position_embeddings=512, type_vocab_size=2, num_labels=2,
    ),
    "MiniLM": BertConfig(
        vocab_size=30_522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536, max_position_embeddings=512, type_vocab_size=2, num_labels=2,
    ),
}
with torch.device("meta"):
    shapes = {name: BertForSequenceClassification(config) for name, config in configs.items()}
counted = {
    name: {
        "with a head for two classes": count_parameters(model)[0],
        "the head": count_parameters(model.classifier)[0],
    }
    for name, model in shapes.items()
}
reveal("fine_tuning.head", counted["BERT-Base"]["the head"])
display(pd.DataFrame(counted).map("{:,}".format))

# %% [markdown]
# The head has 768 × 2 weights and 2 biases. Only about one in seventy thousand parameters of BERT-Base is therefore new.

# %% [markdown]
# ## 3 · What to train: four strategies
#
# Excluding parameters from training is called **freezing**. The strategies differ in the parts that they freeze.
#
# - **Frozen features** (feature extraction, linear probing): only the head is trained.
# - **Last layers** (partial fine-tuning): the head and the top of the encoder are trained.
# - **Gradual unfreezing** (Howard and Ruder 2018): first the head is trained, then one more layer in each epoch.
# - **Full fine-tuning** (Devlin et al. 2019): all parameters are trained from the first step.
#
# To implement these strategies, we need a function that freezes named parts of a model.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-freeze", "locked": false, "schema_version": 3, "solution": true, "task": false}
def freeze(model: torch.nn.Module, names: list[str]) -> None:
    """Freeze the named parts of a model and unfreeze all others.  (difficulty ●●○, 6 minutes)

    A name refers to a module or a parameter, as in model.named_parameters(): "layers.1" means
    all of layer 1, but not layers.10. Parameters of these parts require no gradient
    afterwards; all others do, including those that were frozen before.
    """
    ### BEGIN SOLUTION
    for name, weight in model.named_parameters():
        frozen = any(name == part or name.startswith(part + ".") for part in names)
        weight.requires_grad_(not frozen)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-freeze-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.freeze", lambda case: frozen_by(case, freeze))

# %% tags=["demo"]
below = ["bert.embeddings", *(f"bert.encoder.layer.{i}" for i in range(11))]
learning = {}
for strategy, names in (("frozen features", ["bert"]), ("last layer", below), ("full", [])):
    freeze(shapes["BERT-Base"], names)
    learning[strategy] = count_parameters(shapes["BERT-Base"])[1]
pictures.strategies(learning, 4, "BERT-Base")

# %% [markdown]
# To save space, the figure shows only four layers. We treat the pooler as part of the last layer. At the end of gradual unfreezing all parameters are trainable, as they are from the start in full fine-tuning. The names of these strategies vary between authors, so
# always state which parts you trained. (Training the head first is meant to prevent a random head from distorting the encoder: Kumar et al. 2022.)

# %% [markdown]
# ## 4 · Two tasks with a known upper bound
#
# Our generated language provides unlimited labels, and for two tasks we can compute the best possible accuracy. In the *topic* task, the model predicts what a sentence is about. The small BERT was pre-trained to predict whether
# two sentences share a topic, so this task is **near** pre-training. In the *swap* task, the model predicts whether two adjacent words have been exchanged. Pre-training never required this, so the task is **far** from it. (It resembles CoLA, Warstadt et al. 2019.) The baseline, a bag of words, ignores word order. However, only the order
# determines the topic of a sentence with people from two topics, and a swap does not change the bag.

# %% tags=["demo", "record"]
from coursekit.sentence_tasks import (
    TASKS, accuracy, bag_of_words, best_possible, majority_class, masked_loss, swap_task,
)

# %% tags=["demo"]
best, by_bag, chance = (
    {task: measure(task) for task in TASKS}
    for measure in (best_possible, bag_of_words, majority_class)
)
tables.tasks(chance, by_bag, best)

# %% [markdown]
# ## 5 · Parameter groups: a learning rate for each layer
#
# An optimiser accepts **parameter groups**, each with its own settings. Two settings matter here. *Weight decay* (decoupled from the gradient: Loshchilov and Hutter 2019) pulls weights towards 0. BERT's code applies it to matrices, but not to biases or to the scales of layer norms. The second setting is the
# learning rate. Because lower layers encode more general features, some authors train them with lower learning rates (**discriminative fine-tuning**, Howard and Ruder 2018; see section 12).

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-parameter_groups", "locked": false, "schema_version": 3, "solution": true, "task": false}
def parameter_groups(
    model: torch.nn.Module, lr: float, decay: float, weight_decay: float
) -> list[dict]:
    """Parameter groups: dicts with "params", "lr", "weight_decay".
    (difficulty ●●●, 12 minutes)

    model has the parts embeddings and layers (L of them, counted from 0), and other parts
    above the layers. Parts above the layers use the learning rate lr, the last layer uses
    lr · decay, each lower layer uses decay times the rate of the layer above it, and the
    embeddings use decay times the rate of layer 0. Matrices use weight_decay; biases and the
    parameters of layer norms, which are vectors, use 0. Every parameter belongs to exactly one
    group. This includes frozen parameters, because they may be unfrozen later.
    """
    ### BEGIN SOLUTION
    L, groups = len(model.layers), []
    for name, weight in model.named_parameters():
        part, number, *_ = name.split(".")
        below = L + 1 if part == "embeddings" else L - int(number) if part == "layers" else 0
        rate, pull = lr * decay**below, weight_decay * (weight.ndim > 1)
        groups.append({"params": [weight], "lr": rate, "weight_decay": pull})
    return groups
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-parameter_groups-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.parameter_groups", lambda case: groups_of(case, parameter_groups))

# %% [markdown]
# ## 6 · Warm-up and linear decay
#
# At first the head is random, so the gradients are not informative, and Adam's running averages are not yet reliable. *Warm-up* therefore begins training with tiny steps. After the warm-up the learning rate decreases linearly to 0, as in BERT's code.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-warmup_linear", "locked": false, "schema_version": 3, "solution": true, "task": false}
def warmup_linear(step: int, warmup: int, total: int) -> float:
    """The fraction of the full learning rate at a step.  (difficulty ●●○, 6 minutes)

    Steps are counted from 0. The fraction increases linearly from 0 at step 0 to 1 at step
    warmup, then decreases linearly to 0 at step total, and stays at 0. Without warm-up
    (warmup = 0) it is 1 at step 0. 0 ≤ warmup < total.
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return step / warmup
    return max(0.0, (total - step) / (total - warmup))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-warmup_linear-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.warmup_linear", lambda case: torch.tensor(
    [float(warmup_linear(step, case["warmup"], case["total"]))
     for step in case["steps"].tolist()]
))

# %% tags=["demo"]
same = difference_from_transformers(warmup_linear)
print(f"largest difference from transformers' schedule: {same:.0e}")
small = on_small_bert(deepcopy(bert), 2)
pictures.rates(warmup_linear, small, parameter_groups(small, 1e-3, 0.5, 0.01))

# %% [markdown]
# With this convention, the learning rate of the first step is 0, so the first step changes nothing. (Other libraries use (step + 1) / warmup; check which convention applies.) The right-hand panel shows the learning rates of the small BERT with a decay of ½. In the
# following sections the decay is 1, so that the strategies differ in only one respect.

# %% [markdown]
# ## 7 · Find the bug
#
# Adam (Kingma and Ba 2015) maintains running means of the gradient and of its square. Both means start at 0 and are therefore too small at first; Adam corrects this bias. (Loshchilov and Hutter 2019 explain why weight decay is added after the division by √v.) The optimiser released with BERT in 2018
# (`google-research/bert`, `optimization.py`, `AdamWeightDecayOptimizer`) computes each step as follows (the variable names are ours):

# %%
def adam_step_of_2018(w, gradient, m, v, step, lr, beta_1, beta_2, epsilon, weight_decay):
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    update = m / (v.sqrt() + epsilon) + weight_decay * w
    return w - lr * update, m, v

# %% [markdown]
# Zhang et al. (2021) identified this code as a reason why fine-tuning on small data sets failed for some seeds. After step 1, what fraction of the first gradient does `m` contain, and what fraction of the squared gradient does `v` contain? Fix the bug.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-adam_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def adam_step(
    w: Float[Tensor, "*N"], gradient: Float[Tensor, "*N"],
    m: Float[Tensor, "*N"], v: Float[Tensor, "*N"], step: int,
    lr: float, beta_1: float, beta_2: float, epsilon: float, weight_decay: float,
) -> tuple[Float[Tensor, "*N"], Float[Tensor, "*N"], Float[Tensor, "*N"]]:
    """The corrected step; returns the new (w, m, v).  (difficulty ●●○, 8 minutes)

    step is 1 at the first call, when m and v are 0. Return the uncorrected means, but use the
    corrected means in the update: m / (1 − beta_1^step), and likewise v with beta_2. epsilon
    is added outside the square root and weight decay outside the fraction; lr multiplies the
    whole update.
    """
    ### BEGIN SOLUTION
    m = beta_1 * m + (1 - beta_1) * gradient
    v = beta_2 * v + (1 - beta_2) * gradient**2
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    update = m_hat / (v_hat.sqrt() + epsilon) + weight_decay * w
    return w - lr * update, m, v
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-adam_step-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.adam_step", lambda case: run_adam(case, adam_step))

# %% [markdown]
# **Predict:** with a constant gradient, how long is the *first* step of the code of 2018, as a multiple of the learning rate? (The correct value is 1.) The code used β₁ = 0.9 and β₂ = 0.999.

# %% tags=["demo"]
predict("fine_tuning.first_step", ...)

# %% tags=["demo"]
step_length = {
    "code of 2018": step_lengths(adam_step_of_2018), "corrected": step_lengths(adam_step)
}
reveal("fine_tuning.first_step", step_length["code of 2018"][0])
pictures.first_steps(step_length)

# %% tags=["demo"]
adam_difference = difference_from_adamw(adam_step)
print(f"after 50 steps, largest difference from torch.optim.AdamW: {adam_difference:.0e}")

# %% [markdown]
# For about three hundred steps the effective learning rate of this code is two to seven times the learning rate you set, and training on a small data set may be over by then. A warm-up at least keeps the very first steps short.
# Mosbach et al. (2021) attribute failed runs to vanishing gradients rather than to forgetting or to the size of the data set.
# Older tutorials import `AdamW` from transformers. Version 5 of transformers no longer contains this class; use `torch.optim.AdamW`, which corrects both means.

# %% [markdown]
# **Question 1 · Three remedies for a random head.** At the first step the head is random. How might the gradient from this random head affect the layers below, and why is the effect worse with few labels? Explain how each of three remedies is meant to help: warm-up, gradual unfreezing, and
# lower learning rates for lower layers. (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "fine_tuning-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The gradient reaches the layers through the weights of the head. While these weights are random, the gradient pushes the encoder in directions that depend on the initialisation rather than on the task.
# This damages what the encoder has learned in pre-training and brings no benefit. With few labels (and a fixed number of epochs) there are few steps in which the damage could be repaired, and a few examples can be fitted in many wrong
# ways. Warm-up keeps the steps of all parts small until the head has learned something. Gradual unfreezing trains the head first and sends no gradient into the encoder during that time.
# Lower rates for lower layers let the head change quickly while the lower layers, which encode the most general features, hardly change. (This is the argument of Kumar et al. 2022. Whether a remedy helps in a given case
# has to be measured: see sections 10 and 12.)
#
# *Marking: 1 point for the random head whose gradient damages the encoder (with few labels, the damage is not repaired, or the model overfits); 1 point for all three remedies, each with its own mechanism.*

# %% [markdown]
# ## 8 · One step
#
# In notebook 03 you wrote a training step. A batch that does not fit into memory is processed in **micro-batches**, whose gradients are summed before the optimiser steps (**gradient accumulation**). The gradients must be weighted correctly, because micro-batches
# may differ in size. Until October 2024, the `Trainer` of transformers averaged the means of the micro-batches (issue 24725), so that tokens in small micro-batches counted more. The bug raised no error.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-train_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(
    model: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
    parts: list[tuple[Tensor, Int[Tensor, "b"]]],
    max_norm: float,
) -> float:
    """One step on a batch given as micro-batches; returns the loss before the step.
    (difficulty ●●○, 8 minutes)

    parts is a list of micro-batches (inputs, labels) of possibly different sizes. The model
    processes one micro-batch at a time, in training mode, and returns logits (b, C). Take one
    step for the whole batch, whose loss is the mean cross-entropy over all examples, each with
    the same weight. Use only this batch's gradient. If its norm over all parameters together
    exceeds max_norm, scale it down to max_norm. Then step the optimiser once, followed by the
    schedule.
    """
    ### BEGIN SOLUTION
    model.train()
    optimiser.zero_grad()
    count = sum(len(labels) for _, labels in parts)
    total = 0.0
    for inputs, labels in parts:
        loss = torch.nn.functional.cross_entropy(model(inputs), labels, reduction="sum") / count
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimiser.step()
    schedule.step()
    return total
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-train_step-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.train_step", lambda case: several_steps(case, train_step))

# %% [markdown]
# The bug of `Trainer` has a page of its own, with a short example and a test that would have caught it: [A mean of means](../../docs/bugs/09_mean_of_means.md).

# %% [markdown]
# **The same with a library.** Batches usually come from a `DataLoader`. This object reshuffles the examples in each epoch, and its `collate_fn` combines them into batches. Our `collate` also removes
# the padding beyond the longest sequence.

# %% tags=["demo"]
from torch.utils.data import DataLoader, TensorDataset

def collate(
    examples: list[tuple[Tensor, Tensor]],
) -> tuple[Int[Tensor, "B T"], Int[Tensor, "B"]]:
    """A batch without the columns that are padding in every sequence."""
    ids, labels = map(torch.stack, zip(*examples))
    return ids[:, : int((ids != PAD).sum(dim=1).max())], labels

loader = DataLoader(
    TensorDataset(*swap_task(256, 0, "train")), batch_size=16, shuffle=True, collate_fn=collate
)
ids, labels = next(iter(loader))
print(
    f"{len(loader)} batches per epoch; the first: ids {list(ids.shape)}, labels "
    f"{list(labels.shape)}"
)

# %% [markdown]
# The training loop calls your `train_step` on shuffled batches of 16, with AdamW, your parameter groups, and your warm-up over the first tenth of the steps.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def parts_of(L: int) -> list[list[str]]:
    """The names of the parts of a classifier from the bottom up; the pooler belongs to the last layer."""
    layers = [[f"layers.{i}"] for i in range(L)]
    return [["embeddings"], *layers[:-1], [*layers[-1], "pooler"], ["head"]]

def learning_parts(strategy: str, share: float, L: int) -> Bool[Tensor, "L+2"]:
    """Which parts are trained after the given fraction of the training."""
    if strategy == "frozen features":
        return torch.arange(L + 2) >= L + 1
    if strategy == "last layer":
        return torch.arange(L + 2) >= L
    if strategy == "gradual unfreezing":
        return unfreeze_at(int(2 * (L + 2) * share), L)              # all parts are unfrozen within the first half of the steps
    return torch.ones(L + 2, dtype=torch.bool)

def set_frozen(model: Classifier, learns: Bool[Tensor, "L+2"]) -> None:
    """Freeze the parts that are not trained, with your function."""
    parts = zip(parts_of(len(model.layers)), learns.tolist(), strict=True)
    freeze(model, [name for names, free in parts if not free for name in names])

def trained_at_the_end(strategy: str) -> int:
    """Trainable parameters of the small BERT with a head for two classes at the end of training."""
    model = on_small_bert(BERT(bert.config), 2)
    everything = torch.ones(4, dtype=torch.bool)
    gradual = strategy == "gradual unfreezing"
    set_frozen(model, everything if gradual else learning_parts(strategy, 1.0, 2))
    return count_parameters(model)[1]

# %% tags=["demo", "record"]
def fine_tune(
    model: Classifier, data: tuple[Tensor, Tensor], strategy: str, lr: float, steps: int,
    seed: int, every: int = 0, watch: Callable | None = None, batch: int = 16,
    warmup: float = 0.1, decay: float = 1.0,
) -> float:
    """Fine-tune the model with the given strategy, and return the CPU time in seconds. warmup
    is a fraction of the steps; watch is called every `every` steps."""
    (ids, labels), generator = data, torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(parameter_groups(model, lr, decay, 0.01), lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: warmup_linear(step, int(warmup * steps), steps)
    )
    rows, seconds, learns = torch.empty(0, dtype=torch.long), 0.0, None
    for step in range(steps):
        start = process_time()
        now = learning_parts(strategy, step / steps, len(model.layers))
        if learns is None or not torch.equal(now, learns):
            set_frozen(model, now)
            learns = now
        if len(rows) < batch:
            rows = torch.cat([rows, torch.randperm(len(ids), generator=generator)])
        chosen, rows = rows[:batch], rows[batch:]
        longest = int((ids[chosen] != PAD).sum(dim=1).max())
        loss = train_step(
            model, optimiser, schedule, [(ids[chosen, :longest], labels[chosen])], 1.0
        )
        seconds += process_time() - start
        if watch and (step + 1) % every == 0:
            watch(step + 1, loss)
    model.eval()
    return seconds

# %% [markdown]
# ## 9 · Catastrophic forgetting
#
# The small BERT still has its old head for masked language modelling. We evaluate this head on the same thousand held-out sentences before and after fine-tuning. The increase in its loss, in nats per masked word, measures how much the model has forgotten.
# Losing what was learned before is called **catastrophic forgetting**. (The old head's own weights are not trained, but its input vectors change and, in full fine-tuning, so does the embedding matrix that the head shares with the encoder.)

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
before = masked_loss(bert)

def small_tuned(
    task: str, strategy: str, labels: int, lr: float, steps: int, seed: int, warmup: float = 0.1, decay: float = 1.0
) -> tuple[BERT, Classifier, float]:
    """The small BERT after fine-tuning, the classifier on it, and CPU seconds."""
    make, classes = TASKS[task]
    torch.manual_seed(seed)
    whole = BERT(bert.config) if strategy == "from scratch" else deepcopy(bert)
    model = on_small_bert(whole, classes)
    seconds = fine_tune(model, make(labels, seed, "train"), strategy, lr, steps, seed, warmup=warmup, decay=decay)
    return whole, model, seconds

def tune_small(task: str, *how, **more) -> dict[str, float]:
    """One run of small_tuned: its accuracy on held-out sentences, its forgetting and its cost."""
    make, (whole, model, seconds) = TASKS[task][0], small_tuned(task, *how, **more)
    return {
        "validation": accuracy(model, make(500, 20_000, "held_out")),
        "test": accuracy(model, make(1000, 30_000, "held_out")),
        "forgotten": masked_loss(whole) - before,
        "seconds": seconds,
    }

# %% [markdown]
# We run full fine-tuning on *swap* for ten epochs of 512 labelled sentences, with a learning rate of 1e-3.
#
# **Predict:** by how many nats will the loss on masked words increase? (The loss starts at about 1.1. A uniform distribution over all words would give about 7.5.)

# %% tags=["demo"]
predict("fine_tuning.forgotten", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
def live(lr: float, steps: int, every: int) -> tuple[BERT, Float[np.ndarray, "points 5"]]:
    """The fine-tuned BERT, and points during training: step, both losses, validation accuracy and nats per masked word."""
    torch.manual_seed(1)
    whole, points, recent = deepcopy(bert), [], []
    model, validation = on_small_bert(whole, 2), swap_task(500, 20_000, "held_out")

    def watch(step: int, loss: float) -> None:
        recent.append(loss)
        if step % every == 0:
            model.eval()
            with torch.no_grad():
                logits = model(validation[0])
            loss = torch.nn.functional.cross_entropy(logits, validation[1]).item()
            right = (logits.argmax(dim=1) == validation[1]).float().mean().item()
            points.append((step, np.mean(recent[-every:]), loss, right, masked_loss(whole)))

    watch(0, np.nan)                                                 # before the first step
    fine_tune(model, swap_task(512, 1, "train"), "full", lr, steps, 1, every=1, watch=watch)
    return whole, np.array(points)

# %% tags=["demo"]
print("This takes five to ten seconds.")
tuned, course = live(1e-3, 320, 32)
forgotten = course[-1, 4] - course[0, 4]
reveal("fine_tuning.forgotten", forgotten)
pictures.live_run(course, best["swap"], np.log(len(language.vocabulary)))
tables.live_run(course)

# %% [markdown]
# The run shows three effects. First, the training loss falls to almost 0 while the validation loss rises again, because the model memorises the training sentences. This is called **overfitting**. Second, the
# validation accuracy nevertheless does not deteriorate. Third, most of the forgetting happens early, while the learning rate is high. The second extension of this notebook shows how to stop such a run in time.

# %% tags=["demo"]
_, too_fast = live(3e-2, 128, 32)
print(f"learning rate 3e-2: training loss {too_fast[-1, 1]:.3f} (log 2 = {np.log(2):.3f}), "
      f"validation accuracy {too_fast[-1, 3]:.1%}, masked words {too_fast[-1, 4]:.1f} nats")

# %% [markdown]
# With a learning rate thirty times as high, the model learns nothing and forgets everything: its loss on masked words exceeds that of a uniform distribution. No error is raised. The symptom to look for is a training loss that stays
# at log C.

# %% [markdown]
# ## 10 · Four strategies, several seeds
#
# A single run is weak evidence. We therefore ran the cells above for each strategy with three seeds (`python -m experiments fine_tuning`). The seed determines the labelled sentences, the initial head and the batches. All runs
# have 200 steps. Each strategy uses its own learning rate: the lowest rate whose validation accuracy with 512 labels is within one point of the best. As a fifth setting, the same model is trained *from scratch*.
#
# **Predict:** with 4,096 labels, what accuracy do frozen features reach on *swap* (0 to 1)?

# %% tags=["demo"]
predict("fine_tuning.frozen_swap", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table
from coursekit.fine_tuning_runs import at_own_rates

recorded = read_table("results/fine_tuning.csv")
chosen, runs = at_own_rates(recorded)
most, least = runs["labels"].max(), runs["labels"].min()
at_most = runs[runs["labels"] == most].set_index(["task", "strategy", "seed"]).sort_index()
frozen_swap = at_most["test"]["swap"]["frozen features"].mean()
reveal("fine_tuning.frozen_swap", frozen_swap)
pictures.trade_off(runs, most)

# %% [markdown]
# On *topic*, training the head alone nearly solves the task, and nothing is forgotten. The vector of [CLS] already contained most of the information about the topic, far more than a bag of words does. On *swap*, this vector does not contain the answer, so the layers have to learn to compute it. Three seeds are too few to show whether
# training all layers is better than training the last layer. Forgetting depends on the learning rate at least as much as on the number of trained layers: on *swap*, gradual unfreezing needed a higher rate than full fine-tuning and forgot more. How much forgetting does
# one point of accuracy cost?

# %% tags=["demo"]
trainable = {strategy: trained_at_the_end(strategy) for _, strategy in chosen.index}
tables.strategies(at_most, chosen, trainable)

# %% [markdown]
# We give the forgetting per point of accuracy only where the gain exceeds the noise. The times in seconds (on one core) should be compared only with one another. Gradual unfreezing ends with all parameters trainable, so the
# table gives the same number of trainable parameters for it as for full fine-tuning.

# %% tags=["demo"]
pictures.by_labels(runs, best, chance)

# %% [markdown]
# ## 11 · Which differences exceed the noise?
#
# Runs with the same seed used the same sentences, so we compute differences per seed and check whether the 95 % interval of the mean difference contains 0.

# %% tags=["demo"]
from coursekit.fine_tuning_runs import (
    by_decay, by_learning_rate, by_strategy_and_rate, differences, judge_advice, without_decay,
)

difference = differences(runs)
tables.differences(difference, sorted(runs["labels"].unique()))

# %% [markdown]
# Many courses teach the same rule of thumb for choosing a strategy. Our version is from the notes on transfer learning in CS231n, Stanford's course on computer vision. The rule depends on two questions: how many
# labels are there, and how similar is the task to pre-training? We compare the rule with our table, together with two more pieces of advice: to start from pre-trained weights, and to unfreeze gradually.

# %% tags=["demo"]
verdicts = judge_advice(difference, least, most)
tables.advice(verdicts, difference, most)

# %% [markdown]
# > **Checking the literature.** The rule depends on the number of labels and on how similar the task is to pre-training. In our experiment, *similarity* matters more. On *topic*, no strategy is more than a point ahead of the head alone. On *swap*, the head alone stays near chance level with few labels and falls far behind with many labels. The *number of labels* matters on *topic*. With few labels, full fine-tuning is clearly worse than the head alone; with many labels, it brings no clear gain and makes
# > the model forget more. For three of six recommendations, the difference is within the noise. Two tasks and one model cannot refute a rule; they show how to test it.

# %% [markdown]
# Trained from scratch for 200 steps (less than one epoch of 4,096 labels), the model learns *topic* only in part and *swap* not at all. Is the training simply too short? We also recorded runs with eight times as many steps (`python -m experiments fine_tuning_long`):

# %% tags=["demo"]
long_right = by_strategy_and_rate(read_table("results/fine_tuning_long.csv"))
tables.accuracies(long_right)

# %% [markdown]
# Six epochs of training from scratch raise the accuracy on *topic* to about three quarters and leave *swap* at chance level, at both learning rates. Fine-tuned for the same number of steps, the pre-trained model is nearly always correct on both tasks. We have not measured what more labels or
# even longer training from scratch would achieve.

# %% [markdown]
# ## 12 · Further: learning rate and training length
#
# Devlin et al. (appendix A.3) recommend learning rates from 2e-5 to 5e-5 and 2 to 4 epochs for BERT. A small model tolerates, and needs, higher learning rates:

# %% tags=["demo"]
tried = recorded.query("table == 'rates' and strategy == 'full'")
nothing_left = np.log(len(language.vocabulary)) - before
pictures.sweep(tried, "lr", "learning rate", nothing_left)

# %% tags=["demo"]
from coursekit.pretrain import RECIPES

lasting = recorded.query("table == 'epochs'").eval("epochs = steps * 16 // labels")
pictures.sweep(lasting, "epochs", "epochs of 512 labels", nothing_left)
print(
    f"pre-trained with learning rates up to {RECIPES['bert'].learning_rate:g}, in batches of "
    f"{RECIPES['bert'].batch}"
)

# %% [markdown]
# Forgetting grows with the learning rate on both tasks, and a rate above 1e-3 brings no benefit: the accuracy falls or stays the same. The highest rate shown is the one used to *pre-train* this very model, with larger batches; as a
# fine-tuning rate it erases most of what the model had learned in pre-training. One epoch is too short for the far task. For every seed, the accuracy is higher after four epochs than after one, and higher still after sixteen, but in both cases the model forgets more than in one epoch.

# %% [markdown]
# Does warm-up matter? We compare full fine-tuning on 512 labels with and without a warm-up over a tenth of the steps, using ten paired seeds (`python -m experiments fine_tuning_warm_up`):

# %% tags=["demo"]
warm = read_table("results/fine_tuning_warm_up.csv").query("labels == 512")
tables.warm_up(warm)

# %% [markdown]
# Warm-up helps on *topic* when the learning rate is ten times too high, although lowering the rate helps far more. On *swap* it does not help even at that rate, and at the best rate of either task we see no difference. At three times the best rate, warm-up lowers the accuracy on *topic* by half a point, but one of six 95 % intervals may exclude 0 by chance. (Other models may need warm-up more, as the post-norm encoders in notebook 03 did.)

# %% [markdown]
# Do lower learning rates for lower layers help (**discriminative fine-tuning**)? We let each layer use 1, ½ or ¼ of the rate of the layer above it, with three paired seeds (`python -m experiments fine_tuning_layer_rates`):

# %% tags=["demo"]
one_rate = pd.concat([warm.query("warmup == 0.1"), tried.query("lr == 3e-4")])
layer_rates = by_decay(one_rate, read_table("results/fine_tuning_layer_rates.csv"))
tables.layer_rates(layer_rates)

# %% [markdown]
# Lower rates for lower layers reduce forgetting. With a decay of ¼ and a rate of 3e-3 for the head, the accuracy equals that of the best single rate, 1e-3, on both tasks, as far as three seeds can show. Yet the model forgets less than a tenth as much. A single low rate of 3e-4
# also causes little forgetting, though still more than the rates that decrease towards the lower layers. A rate that ruins the model when all layers use it does no harm when only the head uses it. (We tested a model of two layers for 200 steps; deeper models have more rates to choose.)

# %% [markdown]
# ## 13 · Real reviews
#
# In a more realistic setting, we fine-tune a pre-trained encoder on short reviews written for this course (`data/sentiment`), each positive or negative. We use 256 labels, two epochs and three seeds. The grey band shows the sampling error of the accuracy of
# *one* model on 320 test reviews.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.datasets import read_table
from coursekit.models import load as load_pretrained

REVIEWS = read_table("sentiment/sentiment.csv")

def review_task(
    tokenizer, split: str, count: int | None = None, seed: int = 0
) -> tuple[Int[Tensor, "n T"], Int[Tensor, "n"]]:
    """Reviews of a split as ids, and labels (1: positive); all of them, or `count` drawn with a seed."""
    some = REVIEWS[REVIEWS["split"] == split]
    some = some if count is None else some.sample(count, random_state=seed)
    ids = tokenizer(list(some["text"]), padding=True, return_tensors="pt")["input_ids"]
    return ids, torch.tensor((some["label"] == "positive").to_numpy()).long()

def on_pretrained(encoder, classes: int) -> Classifier:
    """A classifier on a BERT from transformers, whose padding also has the id 0."""
    def read(ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        return encoder(ids, attention_mask=(ids != PAD).long()).last_hidden_state
    layers, pooler = encoder.encoder.layer, encoder.pooler.dense
    return Classifier(read, encoder.embeddings, layers, pooler, classes)

def tune_reviews(
    loaded, strategy: str, labels: int, lr: float, epochs: int, seed: int
) -> dict[str, float]:
    """One run on the reviews; trains a copy of the pre-trained encoder."""
    torch.manual_seed(seed)
    model = on_pretrained(deepcopy(loaded.model), 2)
    data = review_task(loaded.tokenizer, "train", labels, seed)
    seconds = fine_tune(model, data, strategy, lr, epochs * len(data[0]) // 16, seed)
    return {"test": accuracy(model, review_task(loaded.tokenizer, "test")), "seconds": seconds}

# %% tags=["demo"]
reviews = read_table("results/fine_tuning_reviews.csv").query("table != 'Trainer'")
one_model = 100 * 1.96 * np.sqrt(0.25 / (REVIEWS["split"] == "test").sum())
pictures.reviews(reviews, one_model)

# %% tags=["demo"]
by_rate, heads = (
    by_learning_rate(reviews, strategy) for strategy in ("full", "frozen features")
)
best_rate, frozen_reviews = by_rate.mean().idxmax(), heads[heads.mean().idxmax()]
tables.review_runs(by_rate, best_rate, frozen_reviews)

# %% [markdown]
# A learning rate of 5e-5, within the range recommended in the paper, is too low here, because two epochs of 256 reviews amount to only 32 steps. At 1e-3, one run is at chance level, and the runs differ so much that three are too few to show even that the mean is lower. The spread itself is the finding. When seeds disagree this much, the learning rate is probably too high or too low, and a single run would not reveal this.

# %% [markdown]
# Frozen features seem to fail here, yet the data card reports 74.7 % for a frozen MiniLM. What explains the difference? The head above receives [CLS] after the pooler and is trained for 32 steps. The authors of all-MiniLM trained the *mean* of the token vectors and did not train that
# pooler. We therefore train heads on three kinds of frozen vector, for the same number of steps and for 32 times as many (`python -m experiments fine_tuning_heads`).

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
@torch.no_grad()
def frozen_vectors(loaded, ids: Int[Tensor, "B T"]) -> dict[str, Float[Tensor, "B D"]]:
    """Three vectors of a frozen encoder that a head may use as its input."""
    output = loaded.model(ids, attention_mask=(ids != PAD).long())
    top, keep = output.last_hidden_state, (ids != PAD)[..., None]
    return {"[CLS] after the pooler": output.pooler_output, "[CLS]": top[:, 0],
            "mean of the tokens": (top * keep).sum(dim=1) / keep.sum(dim=1)}

def tune_head(
    loaded, vector: str, labels: int, lr: float, steps: int, seed: int
) -> dict[str, float]:
    """One run of a linear head on frozen vectors of reviews, with the schedule of `fine_tune`."""
    generator = torch.Generator().manual_seed(seed)
    ids, answers = review_task(loaded.tokenizer, "train", labels, seed)
    x, head = frozen_vectors(loaded, ids)[vector], torch.nn.Linear(loaded.model.config.hidden_size, 2)
    torch.nn.init.normal_(head.weight, std=0.02, generator=generator)
    torch.nn.init.zeros_(head.bias)
    optimiser = torch.optim.AdamW(head.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: warmup_linear(step, steps // 10, steps)
    )
    for _ in range(steps):
        chosen = torch.randint(labels, (16,), generator=generator)
        loss = torch.nn.functional.cross_entropy(head(x[chosen]), answers[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    ids, answers = review_task(loaded.tokenizer, "test")
    guesses = head(frozen_vectors(loaded, ids)[vector]).argmax(dim=1)
    return {"test": (guesses == answers).float().mean().item()}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
heads_alone = read_table("results/fine_tuning_heads.csv")
tables.heads(heads_alone)
# Or, with an internet connection: ("bert-base-uncased", from_hub=True)
encoder = load_pretrained("all-MiniLM-L6-v2")
vectors = frozen_vectors(encoder, review_task(encoder.tokenizer, "test", 64)[0])
alike = {}
for name, vector in vectors.items():
    cosines = torch.nn.functional.cosine_similarity(vector[:, None], vector[None], dim=-1)
    alike[name] = cosines[~torch.eye(len(cosines), dtype=torch.bool)].mean().item()
tables.similar_vectors(vectors, alike)

# %% [markdown]
# After the pooler, the coordinates are small and the vectors of all reviews are very similar. A head on these vectors benefits from more steps for each of the three seeds. A head on the mean does not need more steps, and with 1,024 steps it memorises the 256 reviews. Most of the difference above is therefore due to the choice of vector and the number of steps rather than to
# fine-tuning as such. Compared with the head on the mean, full fine-tuning is not clearly better for these seeds. Notebook 10 uses the mean.

# %% [markdown]
# ### Choose on validation data
#
# Above, we compared the learning rates on the *test* reviews. With a few rates this does little harm, but the more settings are tried, the more the best of them owes to chance. Every choice (the learning rate, the number of epochs, the layer, the rank of
# LoRA in notebook 14) should therefore be made on a **validation set**. The test set is used once, for the model that was chosen.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-choose_and_report", "locked": false, "schema_version": 3, "solution": true, "task": false}
def choose_and_report(
    rates: Float[Tensor, "R"],
    validation_logits: Float[Tensor, "R n C"],
    validation_labels: Int[Tensor, "n"],
    test_logits: Float[Tensor, "R m C"],
    test_labels: Int[Tensor, "m"],
) -> tuple[float, float]:
    """The learning rate to choose and the accuracy to report.  (difficulty ●●○, 6 minutes)

    Row r of both tensors of logits belongs to the model trained with rates[r]. Choose the
    model with the highest accuracy on the validation examples; among equally accurate ones,
    choose the one with the lowest rate. Return its rate and its accuracy on the test examples
    (0 to 1).
    """
    ### BEGIN SOLUTION
    right = (validation_logits.argmax(dim=-1) == validation_labels).float().mean(dim=-1)
    chosen = torch.where(right == right.max(), rates, torch.inf).argmin()
    tested = (test_logits[chosen].argmax(dim=-1) == test_labels).float().mean()
    return rates[chosen].item(), tested.item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "fine_tuning-choose_and_report-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.choose_and_report", lambda case: choose_and_report(**case))

# %% [markdown]
# How much does choosing on test data inflate the reported accuracy? Suppose that we try 20 settings and that none of them works: all 20 models guess. There are 320 validation reviews and 320 test reviews.
#
# **Predict:** what accuracy do we report on average if we choose the best of the 20 on the test reviews themselves?

# %% tags=["demo"]
predict("fine_tuning.best_of_twenty", ...)

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.fine_tuning_runs import best_of_guessing

reported = best_of_guessing(choose_and_report, models=20, reviews=320)
claimed = {how: float(np.mean(values)) for how, values in reported.items()}
reveal("fine_tuning.best_of_twenty", claimed["chosen on test reviews"])
tables.reported_accuracies(reported)

# %% [markdown]
# If the best of 20 guessing models is chosen on validation reviews, its reported accuracy is at chance level on average, as it should be. If the model is chosen on the test reviews, it seems to be about five points better. Many differences reported in papers are no larger.

# %% [markdown]
# **Question 2 · Two kinds of noise.** A report says: "Full fine-tuning reached 71 % on 320 test reviews, frozen features 69 %; therefore we fine-tune everything." Each number comes from one seed. Which two kinds of noise affect these numbers, and how large is each here?
# What further evidence would you require before agreeing, and what can accuracy alone not show? (3–5 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "fine_tuning-reflection-2", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# The test set is a sample: with 320 reviews an accuracy is known only to about ± 5 points. The training is random as well: another head, other batches or another choice of labelled reviews
# change the result, as the spread over seeds in the figure shows. A difference of two points is smaller than either kind of noise. I would ask for several seeds of both strategies and for paired differences
# on the same reviews, with an interval. The learning rate has to be chosen on validation rather than test reviews, with the same effort (number of rates tried) for both strategies. The
# accuracy does not show the costs: computing time, a copy of the whole model for each task, and forgetting.
#
# *Marking: 1 point for both kinds of noise with a size (test sampling about 5 points; seeds); 1 point for paired repetitions or the choice on validation data, and at least one cost that the accuracy does not show.*

# %% [markdown]
# ## 14 · Further: the same with Trainer
#
# In practice, few people write this loop themselves. The class `Trainer` from transformers provides the same loop, with AdamW, parameter groups, warm-up and clipping at 1, together with evaluation and much more. (It requires the package accelerate.) In version 5, the argument that determines when to evaluate is called `eval_strategy`, the tokenizer is passed as `processing_class`, and a value of `warmup_steps` below 1 is a fraction of all steps. Set `FULL = True` to train on all 780 reviews for three epochs, which takes a minute or two.

# %% tags=["demo", "record"]
import contextlib
import io
import tempfile

from transformers import BertForSequenceClassification, Trainer, TrainingArguments

def with_trainer(loaded, steps: int, seed: int = 0) -> tuple[Trainer, dict[str, float]]:
    """Fine-tune a whole encoder on reviews (steps = −1: three epochs); also returns its test
    metrics."""
    torch.manual_seed(seed)
    config = deepcopy(loaded.model.config)
    config.num_labels = 2
    model = BertForSequenceClassification(config)
    model.bert = deepcopy(loaded.model)                              # only the head is random

    def rows(split: str) -> list[dict]:
        some = REVIEWS[REVIEWS["split"] == split]
        positive = (some["label"] == "positive").astype(int)
        return [
            {**loaded.tokenizer(text), "labels": label}
            for text, label in zip(some["text"], positive, strict=True)
        ]

    def score(said) -> dict[str, float]:
        return {"accuracy": float((said.predictions.argmax(axis=1) == said.label_ids).mean())}

    arguments = TrainingArguments(
        output_dir=tempfile.mkdtemp(), learning_rate=5e-5, per_device_train_batch_size=16,
        num_train_epochs=3, max_steps=steps, warmup_steps=0.1, weight_decay=0.01,
        max_grad_norm=1.0, train_sampling_strategy="group_by_length",
        eval_strategy="epoch" if steps < 0 else "no",
        save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True, seed=seed,
    )
    trainer = Trainer(
        model=model, args=arguments, train_dataset=rows("train"),
        eval_dataset=rows("validation"),
        processing_class=loaded.tokenizer, compute_metrics=score,
    )
    test = rows("test") if steps < 0 else rows("test")[:64]
    with contextlib.redirect_stdout(io.StringIO()):                  # hides Trainer's log
        trainer.train()
        said = trainer.evaluate(test, metric_key_prefix="test")
    return trainer, said

# %% tags=["demo"]
FULL = False                         # True: all reviews, three epochs
torch.set_num_threads(2 if FULL else 1)
trainer, said = with_trainer(encoder, -1 if FULL else 6)
print(f"{trainer.state.global_step} steps: test loss {said['test_loss']:.3f}, "
      f"accuracy {said['test_accuracy']:.1%}")
once = read_table("results/fine_tuning_reviews.csv").query("table == 'Trainer'").iloc[0]
print(f"recorded once with FULL = True ({once['labels']} reviews, {once['epochs']} epochs): "
      f"accuracy {once['test']:.1%} on all test reviews, {once['seconds']:.0f} CPU seconds")

# %% tags=["demo"]
spared_by_us, spared_by_them = without_decay(trainer)
print(f"without weight decay: {len(spared_by_them)} parameter tensors in Trainer; "
      f"{len(spared_by_us)} vectors in the model; identical: {spared_by_them == spared_by_us}")

# %% [markdown]
# **Prediction in three lines.** A `pipeline` combines tokenizer, model and softmax in one call. (After six training steps its predictions are of little value.)

# %% tags=["demo"]
from transformers import pipeline

classify = pipeline("text-classification", model=trainer.model, tokenizer=encoder.tokenizer)
display(pd.DataFrame(classify(list(REVIEWS["text"][:2]))).assign(review=REVIEWS["text"][:2]))

# %% [markdown]
# Six steps only show that the code runs. The recorded run used three times the labels and more than four times the steps of the runs in the figure, but only a single seed, so it cannot be compared with these runs. Trainer selects the parameters without weight decay by type and
# name; our rule based on the number of axes selects the same ones.

# %% [markdown]
# ## 15 · Scoreboard
#
# As a second measure of forgetting, we apply the course's test of word senses to the last layer of the small BERT before and after the run of section 9. Both models answer the same questions, so we
# compute the differences per question.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit.exam import QUESTIONS, by_question, nearest_hits, sense_exam
from coursekit.small.figures import sense_vectors

exam = sense_exam()

def answers(model: BERT) -> Bool[np.ndarray, "questions"]:
    """Which questions of the test the vectors of the last layer answer correctly."""
    labelled, held_out = (sense_vectors(model, part)[-1] for part in (exam.labelled, exam.held_out))
    return nearest_hits(exam, labelled, held_out)

def tune_and_ask(*how, **more) -> dict[str, float]:
    """One run on the small BERT: its accuracies on the test afterwards, and its forgetting in nats."""
    whole = small_tuned(*how, **more)[0]
    shares = by_question(exam, answers(whole))
    return {**{kind: shares[kind] for kind in QUESTIONS}, "forgotten": masked_loss(whole) - before}

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
from coursekit.intervals import bootstrap
from coursekit.scoreboard import add_row, draw

print("This takes five to ten seconds.")
right_before, right_after = answers(bert), answers(tuned)
exam_before, exam_after = by_question(exam, right_before), by_question(exam, right_after)
add_row("BERT, fine-tuned (swap)", exam_after, loss=course[-1, 4], note="after the run in 09")
draw()
print(f"masked words: {course[0, 4]:.2f} nats before, {course[-1, 4]:.2f} after")
changes = {}
for kind, text in QUESTIONS.items():
    change = 100 * (right_after.astype(float) - right_before)[exam.held_out.cue == kind]
    low, high = bootstrap(change)
    changes[kind] = change.mean(), low, high
    print(f"{text}: {exam_before[kind]:.3f} before, {exam_after[kind]:.3f} after;",
          f"{change.mean():+.1f} points ({low:+.1f} to {high:+.1f})")

# %% [markdown]
# These results are from a single run, and the intervals are over the questions. We also recorded runs on both tasks with three seeds, at the same learning rate and at three times that rate (`python -m experiments fine_tuning_exam`). The table gives the change in accuracy (after minus before) in points, with
# intervals over seeds:

# %% tags=["demo"]
points_lost = {
    (task, f"{lr:g}"): {
        **{kind: 100 * (some[kind] - exam_before[kind]) for kind in QUESTIONS},
        "forgotten": some["forgotten"],
    }
    for (task, lr), some in read_table("results/fine_tuning_exam.csv").groupby(
        ["task", "lr"], sort=False
    )
}
tables.lost_points(points_lost)

# %% [markdown]
# At the learning rate of our run, the loss on masked words increases by half (*swap*) or doubles (*topic*), whereas the accuracies on word senses stay within a few points of their old values. The senses are far enough apart that the vectors may change considerably before a nearest neighbour changes. The
# head that predicts words, by contrast, is sensitive to every change.

# %% [markdown]
# At three times that rate, the accuracy on *swap* is no better (section 12), and the accuracy on word senses falls as well. The model fine-tuned on *swap* now misses an additional fifth of the questions with the cue on the right and more than a third of those with two clauses. The model fine-tuned on *topic* still answers nearly as many sense questions as before, although its loss
# on masked words rises by more than five nats. How much is forgotten depends on the measure, the task and the learning rate.

# %% [markdown]
# ## Extensions
#
# Extensions earn extra credit. The first is the schedule of gradual unfreezing that the recorded runs used. (Since these runs had a fixed number of steps, one *epoch* here means an eighth of the small BERT's training.)

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-unfreeze_at", "locked": false, "schema_version": 3, "solution": true, "task": false}
def unfreeze_at(epoch: int, L: int) -> Bool[Tensor, "L+2"]:
    """Which parts are trained in an epoch of gradual unfreezing.  (extension, ●○○, 5 minutes)

    Parts from the bottom: embeddings, layers 0 to L − 1, head. In epoch 0 only the head is
    trained; each later epoch adds one more part, from the top down. Once trained, a part
    continues to be trained. True means trained.
    """
    ### BEGIN SOLUTION
    return torch.arange(L + 2) >= L + 1 - epoch
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "fine_tuning-unfreeze_at-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.unfreeze_at", lambda case: plan(case, unfreeze_at))

# %% tags=["demo"]
print("This takes a few seconds.")
one_run = {
    strategy: tune_small("swap", strategy, 512, 1e-3, 200, 0)
    for strategy in ("gradual unfreezing", "full")
}
display(pd.DataFrame(one_run).T.map("{:.3f}".format))

# %% [markdown]
# These runs have a single seed and are an example rather than a result. The table in section 11 gives the intervals.
#
# The second extension, **early stopping**, monitors the validation loss and stops a run that overfits.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-early_stopping", "locked": false, "schema_version": 3, "solution": true, "task": false}
class EarlyStopping:
    """Decide when to stop, and record which epoch was best.  (extension, ●●○, 8 minutes)

    step receives the validation loss of each epoch in turn (epochs are counted from 0). An
    epoch is an improvement if its loss is below the best so far by more than min_delta; best
    and best_epoch are then set to the loss and the number of this epoch. The first epoch
    always counts as an improvement. step returns True as soon as none of the last `patience`
    epochs was an improvement.
    """

    def __init__(self, patience: int, min_delta: float = 0.0):
        self.patience, self.min_delta = patience, min_delta
        self.epoch, self.best, self.best_epoch = -1, float("inf"), -1

    def step(self, loss: float) -> bool:
        """True if training should stop after this epoch."""
        ### BEGIN SOLUTION
        self.epoch += 1
        if loss < self.best - self.min_delta:
            self.best, self.best_epoch = loss, self.epoch
        return self.epoch - self.best_epoch >= self.patience
        ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "fine_tuning-early_stopping-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.early_stopping", lambda case: decisions(case, EarlyStopping))

# %% tags=["demo", "hide-input"] jupyter={"source_hidden": true}
stopper, validation_losses = EarlyStopping(patience=3), course[1:, 2]
said = [bool(stopper.step(loss)) for loss in validation_losses]
stopped = said.index(True) if True in said else len(said) - 1
best_epoch = int(validation_losses[: stopped + 1].argmin())
tables.early_stopping(course, stopped, best_epoch)

# %% [markdown]
# Early stopping based on the loss ends the run while the accuracy is still a few points below the final value. The later epochs add a little accuracy, make the model more confident even where it is wrong, and increase forgetting. The best time to stop therefore depends on the metric you choose. `Trainer` has an `EarlyStoppingCallback`
# that monitors any metric you name.

# %% [markdown]
# The third extension saves computation. Every sequence is padded to the longest sequence of its batch, so batches that mix short and long sequences consist largely of padding. A model that is only *applied* to texts may read them in any order. We therefore sort the texts by length, divide the sorted list into batches, and return the outputs to the original order.
#
# Take four sequences with 9, 3, 8 and 2 tokens, and batches of two. In the given order, the batches have 2 · 9 + 2 · 8 = 34 positions. Sorted by length, the batches are [3, 1] and [2, 0], with 2 · 3 + 2 · 9 = 24 positions for 22 tokens. The outputs then arrive in the order 3, 1, 2, 0. Sequence 0 is at position 3 of this list (counting from 0), so `back` begins with 3.

# %% nbgrader={"grade": false, "grade_id": "fine_tuning-length_sorted", "locked": false, "schema_version": 3, "solution": true, "task": false}
def length_sorted(
    lengths: Int[Tensor, "n"], size: int
) -> tuple[list[Int[Tensor, "b"]], Int[Tensor, "n"]]:
    """Batches of sequences of similar length: (batches, back).  (extension, ●●○, 7 minutes)

    batches  the row numbers of the sequences, `size` in each batch, the shortest sequences
             first. Only the last batch may be smaller. Sequences of the same length may be in
             any order.
    back     the position of each sequence in the concatenated batches: if outputs are in the
             order of the batches, outputs[back] are in the original order.
    """
    ### BEGIN SOLUTION
    order = lengths.argsort()
    return list(order.split(size)), order.argsort()
    ### END SOLUTION

# %% course={"extra_credit": 1} nbgrader={"grade": true, "grade_id": "fine_tuning-length_sorted-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("fine_tuning.length_sorted", lambda case: sorted_batches(case, length_sorted))

# %% tags=["demo"]
from coursekit.length_sorting import in_sorted_batches

all_reviews, _ = review_task(encoder.tokenizer, "test")
by_length = in_sorted_batches(
    lambda ids: frozen_vectors(encoder, ids)["mean of the tokens"], all_reviews, length_sorted
)
tables.padding(by_length)

# %% [markdown]
# Hardly any padding remains, and the vectors are the same up to rounding, because attention ignores the padding. In *training*, sorted batches would no longer be random: each step would see sequences of one length, and the steps would go from short to long. `Trainer` therefore offers a compromise (`train_sampling_strategy="group_by_length"`), which sorts only within large random groups of sequences.

# %% [markdown]
# ## Summary
#
# - Fine-tuning starts from θ_pre. Only the head is new: 1,538 of 109,483,778 parameters in BERT-Base.
# - Strategies train the head, the last layers, or the whole model.
# - Weight decay is not applied to biases and layer norms. Warm-up keeps the first steps short.
# - A batch may be processed in micro-batches, whose gradients add up.
# - A task near pre-training needs only a head; for a distant task, the layers must be trained. Training the encoder causes forgetting, which grows with the learning rate.
# - Too large a learning rate raises no error, but the loss stays at log C.
# - Without an interval, a difference of two points means nothing.
#
# **Next**: notebook 10 adds three heads to one encoder, for sentiment, entities and questions.

# %% [markdown]
# ## References
#
# - Atry (2023). Sum loss instead of mean loss should be used if gradient accumulation step is larger than 1. github.com/huggingface/transformers/issues/24725.
# - CS231n (Stanford). Transfer learning, "When and how to fine-tune?" cs231n.github.io/transfer-learning.
# - Devlin, J., Chang, M.-W., Lee, K. and Toutanova, K. (2019). BERT: pre-training of deep bidirectional transformers for language understanding. *NAACL-HLT*, 4171–4186. arXiv:1810.04805.
# - google-research/bert (2018). `optimization.py`. github.com/google-research/bert.
# - Howard, J. and Ruder, S. (2018). Universal language model fine-tuning for text classification. *ACL*, 328–339. arXiv:1801.06146.
# - Kingma, D. P. and Ba, J. (2015). Adam: a method for stochastic optimization. *ICLR*. arXiv:1412.6980.
# - Kumar, A., Raghunathan, A., Jones, R., Ma, T. and Liang, P. (2022). Fine-tuning can distort pretrained features and underperform out-of-distribution. *ICLR*. arXiv:2202.10054.
# - Loshchilov, I. and Hutter, F. (2019). Decoupled weight decay regularization. *ICLR*. arXiv:1711.05101.
# - Mosbach, M., Andriushchenko, M. and Klakow, D. (2021). On the stability of fine-tuning BERT: misconceptions, explanations, and strong baselines. *ICLR*. arXiv:2006.04884.
# - Radford, A., Narasimhan, K., Salimans, T. and Sutskever, I. (2018). Improving language understanding by generative pre-training. OpenAI.
# - Warstadt, A., Singh, A. and Bowman, S. R. (2019). Neural network acceptability judgments. *TACL* 7, 625–641. arXiv:1805.12471.
# - Zhang, T., Wu, F., Katiyar, A., Weinberger, K. Q. and Artzi, Y. (2021). Revisiting few-sample BERT fine-tuning. *ICLR*. arXiv:2006.05987.

# %% [markdown]
# Next: [10 · Applications: sentiment, entities, questions](../10_applications/10_applications.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
predictions()
