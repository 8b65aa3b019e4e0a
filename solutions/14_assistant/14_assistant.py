# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · From base model to assistant
#
# A **base model** continues text: after a question, it may generate another question. An assistant answers the question. Two kinds of training turn a base
# model into an assistant: training on example answers, which the model imitates, and training on pairs of answers, one of which was preferred. You will
# implement both on the generated language, for which we know the best possible assistant and can measure exactly how much a model forgets.
#
# **You need** notebooks 07 and 09; 13 helps. **Time** about 85 minutes for the core: ten exercises and a written question. The section marked *Further* (a bug to fix) is optional.
#
# [Start page](../start.ipynb) · [Glossary](../../docs/glossary.md) · before: [13 · Today's decoders](../13_decoders/13_decoders.ipynb) · next: [15 · Taking a model apart](../15_circuits/15_circuits.ipynb)

# %% [markdown]
# **By the end, you will be able to**
#
# - train a model on answers only, and pack conversations without mixing them;
# - fine-tune with a low-rank update and merge the update into the weights;
# - change the format in which a real assistant answers, and measure what else has changed;
# - implement DPO, and state the policy that it approximates;
# - interpret an assistant's score critically.

# %%
# If a module is missing, this notebook has been opened without its course: unpack the course's
# zip file, run `make lab` in its folder, and open the notebook from the start page.
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid

from coursekit import check, hint, predict, reveal
from coursekit.assistants import (
    conversations_of, try_lora, try_merge, try_steps, try_unloading, turns_of, without_change
)

# %% [markdown]
# ## 1 · From continuing to answering

# %% tags=["demo"]
from coursekit.pictures import assistant as pictures, assistant_tables as tables
from coursekit.plots import use_style

use_style()
pictures.way()

# %% [markdown]
# We put the same question to two models from notebook 07: a base model, the GPT trained on novels, and an assistant, SmolLM2-Instruct. An assistant is trained on
# conversations in a **chat template**, which marks the turns. We also give SmolLM2 the question without its template, as a base model would receive it. (The
# weights are the same: the course does not include the base model of SmolLM2-Instruct.) Each model generates up to 30 tokens by greedy decoding. Without its
# template, SmolLM2 is not allowed to stop before the 30th token.

# %% tags=["demo"]
YOUR_QUESTION = "Why is the sky blue?"               # change it

# %% tags=["demo"]
from coursekit.answering import asked_three_ways
from coursekit.models import load as load_pretrained
from coursekit.novels.shipped import load_gpt as load_novels_gpt

print("This takes about ten seconds, or half a minute the first time.")
novels, subwords = load_novels_gpt()
smol = load_pretrained("SmolLM2-135M-Instruct", head="causal-lm")
three_ways = asked_three_ways(
    novels, subwords, smol, ("What is the capital of France?", YOUR_QUESTION)
)
tables.asked_three_ways(three_ways)

# %% [markdown]
# The GPT trained on novels continues both questions with dialogue, as a novel would. Asked for the capital of France without its template, SmolLM2 repeats the correct answer.
# (If it were allowed to stop, it would stop immediately.) With the template, the same weights answer in one sentence and stop. For this question, the template changes
# how SmolLM2 writes, not what it knows. Longer answers, such as the one about the sky, are cut off after 30 tokens.

# %% [markdown]
# On the generated language, we can measure exactly what a model gains and what it loses when it is turned into an assistant.
#
# Our small GPT (07) has been trained only on plain sentences of this language. We ask it for the topic of a sentence. The prompt consists of the sentence's
# first four words and [SEP]; the answer is the topic in one word, followed by [EOS]. Four words do not always determine the topic. In our language, however,
# p(topic | first four words) is known exactly, and so is the accuracy of the best possible assistant.

# %% tags=["demo"]
# the best possible accuracy (0 to 1), with 23 topics and four words
predict("assistant.best_possible", ...)

# %% tags=["demo"]
import numpy as np

from coursekit import instructions, small
from coursekit.instruction_tuning import (
    measure_tuned, most_frequent, packing_error, recorded_leaks, recorded_tuning, start_alike
)

tests = instructions.ask(2000, np.random.default_rng(1000), "held_out")
base = small.load("gpt")
reveal("assistant.best_possible", tests.best.mean())
frequent, base_right = most_frequent(tests), instructions.right(base, tests).mean()
tables.base_model(base, tests, base_right, frequent)

# %% [markdown]
# The base model has never seen [SEP], so the text that it generates next is not an answer. **Supervised fine-tuning** (SFT) continues the training from
# notebook 07, now on conversations. Usually, one thing changes in the loss: only the assistant's tokens count. The model reads the user's text but is not
# trained to imitate it.

# %% [markdown]
# ## 2 · Labels for the answers only
#
# A conversation consists of turns, each of which has a **role**. The **system prompt**, a turn before the first question, gives instructions for the whole
# conversation. A **tool call** is text in an agreed format: a program recognises it, runs the tool and inserts the result (Schick et al. 2023). For
# **structured output**, tokens that would violate a format such as JSON are masked before sampling (Willard and Louf 2023).

# %% nbgrader={"grade": false, "grade_id": "assistant-sft_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sft_labels(turns: list[tuple[str, list[int]]]) -> tuple[list[int], list[int]]:
    """The ids of a conversation as one sequence, and their labels.
    (difficulty ●○○, 4 minutes)

    A turn consists of a role ("system", "user" or "assistant") and its token ids, including
    the end-of-turn token. The labels equal the ids in every turn of the assistant and are −100
    elsewhere. Do not shift the labels: the loss does that. Build new lists and leave the lists
    in `turns` unchanged.
    """
    ### BEGIN SOLUTION
    ids, labels = [], []
    for role, tokens in turns:
        ids += tokens
        labels += tokens if role == "assistant" else [-100] * len(tokens)
    return ids, labels
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-sft_labels-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.sft_labels", lambda case: without_change(sft_labels, turns_of(case)))

# %% [markdown]
# Conversations are much shorter than the sequences that a model can process. **Packing** concatenates several conversations into one sequence instead of
# padding each of them. Neither labels nor attention may cross the boundary between two conversations, and learned positions (07) have to restart there. (Rotary
# positions (13) may continue: if attention stays inside a conversation, only the distances within this conversation matter.)

# %% nbgrader={"grade": false, "grade_id": "assistant-pack", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pack(
    conversations: list[tuple[list[int], list[int]]], length: int
) -> dict[str, Int[Tensor, "rows length"]]:
    """Conversations packed into rows of `length` tokens.  (difficulty ●●●, 15 minutes)

    A conversation is a pair (ids, labels) as returned by sft_labels, at most `length` tokens
    long. Keep the order: a conversation that does not fit into the current row starts the next
    row. Return a dictionary of four tables with these names:
    ids         0 in empty positions;
    labels      −100 in empty positions and at the first token of each conversation, which no
                token precedes;
    positions   0, 1, 2, …, restarting in each conversation; 0 in empty positions;
    segments    1 for the first conversation of a row, 2 for the second, …; 0 in empty
                positions.
    """
    ### BEGIN SOLUTION
    names = ("ids", "labels", "positions", "segments")
    rows, used = [], length
    for ids, labels in conversations:
        n = len(ids)
        if used + n > length:
            rows.append([[0] * length, [-100] * length, [0] * length, [0] * length])
            used, segment = 0, 0
        segment += 1
        parts = ids, [-100, *labels[1:]], range(n), [segment] * n
        for table, part in zip(rows[-1], parts):
            table[used : used + n] = part
        used += n
    return dict(zip(names, torch.tensor(rows).unbind(1)))
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-pack-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("assistant.pack", lambda case: pack(conversations_of(case), case["length"]))

# %% tags=["demo"]
two = [
    sft_labels([("user", row[:-2]), ("assistant", row[-2:])]) for row in tests.ids[:2].tolist()
]
rows = pack(two, 17)
errors_of_packing = packing_error(base, two, rows)
pictures.packed(rows)

# %% [markdown]
# With separate segments and positions, each conversation gets the same logits as when it is processed alone, up to rounding. Without them, no error is raised,
# but the second conversation is conditioned on the first. The library trl packed conversations without boundaries for a long time (issue 1230).

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [Conversations that overhear one another](../../docs/bugs/14_packed_conversations.md).

# %% [markdown]
# ## 3 · A low-rank update
#
# Full fine-tuning changes every weight, so each task needs its own copy of the model. **LoRA** (low-rank adaptation, Hu et al. 2022) freezes the model and
# learns a low-rank *update* of each matrix. For W of shape (out, in), the update is B A, with A of shape (rank, in) and B of shape (out, rank). The update is
# multiplied by α / rank, so that its size depends less on the rank. (Kalajdzievski 2023 proposes α / √rank instead.)

# %% tags=["demo"]
pictures.low_rank(inputs=64, outputs=64, rank=4)

# %% nbgrader={"grade": false, "grade_id": "assistant-lora_linear", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LoRALinear(torch.nn.Module):
    """A frozen linear layer with a trainable low-rank update.  (difficulty ●●○, 8 minutes)

    parts     base: the given layer, frozen (its parameters require no gradient); A: (rank, in)
              and B: (out, rank), parameters of this module; scale: the number alpha / rank.
              Initialise A with small random numbers and B with zeros.
    forward   base(x) + scale · B A x, for x of shape (…, in).
    """

    def __init__(self, base: torch.nn.Linear, rank: int, alpha: float):
        super().__init__()
        ### BEGIN SOLUTION
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.A = torch.nn.Parameter(
            torch.randn(rank, base.in_features) / base.in_features**0.5
        )
        self.B = torch.nn.Parameter(torch.zeros(base.out_features, rank))
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "... in"]) -> Float[Tensor, "... out"]:
        ### BEGIN SOLUTION
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-lora_linear-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("assistant.lora_linear", lambda case: try_lora(LoRALinear, case))

# %% [markdown]
# After training, the update can be added to the weight matrix. The merged model is as fast as the original.

# %% nbgrader={"grade": false, "grade_id": "assistant-merge", "locked": false, "schema_version": 3, "solution": true, "task": false}
@torch.no_grad()
def merge(layer: LoRALinear) -> torch.nn.Linear:
    """A plain linear layer with the same output as `layer`.  (difficulty ●●○, 4 minutes)

    Its weight is W + scale · B A. It has the bias of the base, or no bias if the base has
    none. Leave `layer` and its base unchanged; otherwise, a second merge would add the update
    again.
    """
    ### BEGIN SOLUTION
    base = layer.base
    merged = torch.nn.Linear(base.in_features, base.out_features, bias=base.bias is not None)
    merged.weight.copy_(base.weight + layer.scale * (layer.B @ layer.A))
    if base.bias is not None:
        merged.bias.copy_(base.bias)
    return merged
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-merge-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.merge", lambda case: try_merge(LoRALinear, merge, case))

# %% [markdown]
# We now add LoRA of rank 8 to every linear layer of the GPT and train the updates for 200 steps on 2,048 questions.

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from copy import deepcopy

import numpy as np

from coursekit import instructions, small

def answer_loss(model, questions) -> Float[Tensor, ""]:
    """The loss on answers only, computed with your sft_labels. The user's turn ends with [SEP]; the assistant's turn is the answer and [EOS]."""
    pairs = [sft_labels([("user", row[:-2]), ("assistant", row[-2:])]) for row in questions.ids.tolist()]
    ids, labels = (torch.tensor(part) for part in zip(*pairs))
    return cross_entropy(model(ids).logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())

def prepared(method: str):
    """The pre-trained GPT, prepared for a method: "full", "last layer" or, for example, "LoRA 4" (rank 4, in every linear layer)."""
    torch.manual_seed(0)
    model = small.load("gpt").train()
    if method == "last layer":
        model.requires_grad_(False)
        model.layers[-1].requires_grad_(True)
        model.norm.requires_grad_(True)
    if method.startswith("LoRA"):
        model.requires_grad_(False)
        rank = int(method.removeprefix("LoRA "))
        for module, name in instructions.linear_layers(model):
            setattr(module, name, LoRALinear(getattr(module, name), rank, alpha=2 * rank))
    return model

def train_on(model, questions, lr: float, steps: int, seed: int, rows: int = 32) -> list[float]:
    """Train with AdamW on shuffled batches, with a short warm-up and linear decay; return the loss of each step."""
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(learning, lr=lr, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (0.1 * steps), 1.0, (steps - step) / (0.9 * steps))
    )
    draw, losses, order = torch.Generator().manual_seed(seed), [], torch.tensor([], dtype=torch.long)
    for _ in range(steps):
        if len(order) < rows:
            order = torch.cat([order, torch.randperm(len(questions), generator=draw)])
        loss = answer_loss(model, questions[order[:rows]])
        order = order[rows:]
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
    return losses

def tune(method: str, lr: float, seed: int, labels: int = 2048, steps: int = 200) -> dict[str, float]:
    """Accuracy on 2,000 new questions after tuning, and nats per word above the bound on plain sentences."""
    model = prepared(method)
    torch.manual_seed(seed)
    for module in model.modules():
        if isinstance(module, LoRALinear):
            torch.nn.init.normal_(module.A, std=module.A.shape[1] ** -0.5)
    losses = train_on(model, instructions.ask(labels, np.random.default_rng(seed), "train"), lr, steps, seed)
    model.eval()
    tests = instructions.ask(2000, np.random.default_rng(1000), "held_out")
    validation = instructions.ask(1000, np.random.default_rng(2000), "held_out")
    return {
        "parameters": sum(weight.numel() for weight in model.parameters() if weight.requires_grad),
        "loss": float(np.mean(losses[-20:])),
        "validation": instructions.right(model, validation).mean(),
        "right": instructions.right(model, tests).mean(),
        "above_bound": instructions.above_bound(model),
    }

# %% tags=["demo"]
print("This takes about ten seconds.")
live = prepared("LoRA 8")
examples = instructions.ask(2048, np.random.default_rng(0), "train")
live_losses = train_on(live, examples, 3e-3, 200, seed=0)
merged_model = instructions.with_layers(deepcopy(live.eval()), LoRALinear, merge)

base_paid = instructions.above_bound(base)
tuned = measure_tuned(live, merged_model, tests)
tables.tuning_now(base, live, live_losses, (base_right, base_paid), tuned, tests.best.mean())

# %% [markdown]
# The model now answers the questions, and merging leaves its logits unchanged, up to rounding. The third line shows the cost: the loss on plain sentences is
# now much further above the bound, which is the entropy of the language. This effect is catastrophic forgetting (09), measured here in nats.

# %% [markdown]
# **The same in two lines** with the library PEFT (Mangrulkar et al. 2022):

# %% tags=["demo"]
from peft import LoraConfig, get_peft_model

theirs = get_peft_model(small.load("gpt"), LoraConfig(
    r=8, lora_alpha=16,
    target_modules=["query", "key", "value", "output", "widen", "narrow"],
))

# %% tags=["demo"]
ours = prepared("LoRA 8")
start_alike(theirs, ours)
peft_losses, peft_counts = tables.steps_of_both(
    {"yours": ours, "PEFT": theirs}, answer_loss, tests
)

# %% [markdown]
# **A real assistant.** SmolLM2 answers in prose, but a program that uses its answers needs a fixed format such as JSON. We add your `LoRALinear` to SmolLM2's query and
# value projections and train the updates on 40 short questions, with labels from your `sft_labels`. The answers look like this: `{"answer": "Rome", "topic":
# "geography"}` (`data/json_answers`). An answer is *in the format* if it is one JSON object with exactly these two keys, without any other text.
#
# The learning rate is 0.003, because in a first trial the final training loss was lower than with 0.001.
#
# **Predict:** how many of the answers to 20 held-out questions are in the format after two epochs, that is, 20 steps?

# %% tags=["demo"]
predict("assistant.in_format", ...)

# %% tags=["demo"]
from coursekit import json_answers
from coursekit.instruction_tuning import add_lora

print("This takes about forty seconds.")
torch.manual_seed(0)
weights = add_lora(smol.model, LoRALinear, rank=8, alpha=16)
held_out = json_answers.questions("test")
written_before = json_answers.write(smol, held_out)

turns = json_answers.conversations(smol.tokenizer, json_answers.questions("train"))
json_losses = json_answers.train(smol.model, weights, [sft_labels(each) for each in turns])
written_after = json_answers.write(smol, held_out)

in_format = json_answers.counted(written_after, held_out)["in format"]
reveal("assistant.in_format", in_format)
tables.json_before_and_after(held_out, written_before, written_after, smol.model)

# %% [markdown]
# Twenty steps have changed the form of the answers. What else have they changed? We repeated the run with three seeds (`python -m experiments
# assistant_json`). As a baseline, we asked the untuned model for the format in the prompt, either by describing it or by giving five worked examples. We also
# made ten requests that do not ask for JSON, such as "Write one sentence about the sea.", and measured the loss on reviews (`data/sentiment`), which are
# plain text without a chat template.

# %% tags=["demo"]
json_runs = json_answers.recorded_json()
tables.json_recorded(json_runs)

# %% [markdown]
# With every seed, LoRA teaches the format. Five examples in the prompt work about as well, but they make every prompt 154 tokens longer. With a description alone, no
# answer of this small model is in the format.
#
# Training has had side effects. For each seed, at least eight of the ten requests are also answered in the format, although they did not ask for it, and the
# loss on plain text is higher than before. Here, LoRA teaches the form of an answer but no facts: the answers are correct no more often than those of the
# untuned model.

# %% [markdown]
# ## 4 · Accuracy against forgetting
#
# Biderman et al. (2024) report that, in large models, LoRA "learns less and forgets less" than full tuning. Is this true here? We tuned all weights, the last
# layer alone, and LoRA of five ranks, each at three learning rates with one seed (left panel below). For each method, we chose the lowest learning rate whose validation
# accuracy was within one point of the best, and used this rate for three seeds (right panel). For full tuning, we also ran three seeds at the next lower rate.
#
# **Predict:** at the chosen learning rates, does LoRA of rank 16 forget less than full tuning (1) or more (0)?

# %% tags=["demo"]
predict("assistant.lora_forgets_less", ...)

# %% tags=["demo"]
tuning = recorded_tuning(base_paid)
forgotten = {method: runs["forgotten"].mean() for method, runs in tuning.at_rate.items()}
reveal("assistant.lora_forgets_less", float(forgotten["LoRA 16"] < forgotten["full"]))
tables.tuning_runs(tuning, base_right)
pictures.points_and_nats(tuning, tests.best.mean(), frequent)

# %% [markdown]
# At the chosen learning rates, LoRA of rank 16 is about as accurate as full tuning. It also forgets less, as Biderman et al. report. At the next lower rate
# (the hollow point), however, full tuning reaches the same accuracy, and it forgets *less* than LoRA for each of the three seeds. Which method forgets less
# therefore depends on the learning rates that are compared.
#
# Rank 1 is less accurate than rank 16 at each of the three learning rates. Its best rate is the highest of the three, so an even higher rate or more steps
# might help. After 200 steps on 2,048 questions, all methods are still below the best possible accuracy.

# %% [markdown]
# ## 5 · Which answer is better?
#
# For most questions, nobody can write down *the* correct answer, but people can state which of two answers they prefer. Suppose that each answer has a
# **reward** r, and that the first of two answers is preferred with probability σ(r₁ − r₂) (Bradley and Terry 1952). The model, now called a **policy** π, should earn a
# high reward without moving far from the **reference**, which is the model before this training:
#
# $$\max_\pi \; \mathbb{E}_\pi[r] - \beta\, \mathrm{KL}(\pi \,\|\, \pi_\text{ref}) \qquad\Rightarrow\qquad \pi^*(y) \propto \pi_\text{ref}(y)\, e^{r(y)/\beta}$$

# %% nbgrader={"grade": false, "grade_id": "assistant-best_policy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_policy(
    log_ref: Float[Tensor, "... N"], reward: Float[Tensor, "... N"], beta: float
) -> Float[Tensor, "... N"]:
    """log π* for each of N answers.  (difficulty ●○○, 3 minutes)

    log_ref contains the reference's log-probabilities of all N answers. π* is proportional to
    π_ref · exp(reward / beta) and sums to 1.
    """
    ### BEGIN SOLUTION
    return (log_ref + reward / beta).log_softmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-best_policy-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.best_policy", lambda case: best_policy(
    case["log_ref"], case["reward"], case["beta"]
))

# %% [markdown]
# Suppose that annotators like long words: each letter adds half a point to the reward. The assistant continues a prompt with two words. There are 1,795² =
# 3,222,025 continuations, few enough for us to compute π* over *all* of them.

# %% tags=["demo"]
from coursekit import preferences

reference, reference_tables = instructions.reference()
best_rows = preferences.by_beta(best_policy, reference_tables[0], betas=(3.0, 1.0, 0.3, 0.1))
print(f"[BOS] {instructions.PROMPTS[0]} …")
pictures.best_by_beta(best_rows)

# %% [markdown]
# At β = 3, the best policy is nearly the reference. At β = 1, it favours longer words. At β = 0.1, it generates the longest words of the language after any
# prompt. The reward is almost as high as possible, but the text no longer resembles English. This is not a failure of training, because there was no
# training. The reward does not measure the quality that we want, and β determines how far the policy follows the reward. A small β therefore leads to
# **over-optimisation** (Gao et al. 2023).

# %% [markdown]
# In **reinforcement learning from human feedback** (RLHF, Ouyang et al. 2022), a *reward model* is trained on comparisons of answers. The language model then
# generates answers and is updated towards higher reward while staying near the reference. If answers can be checked automatically, as in arithmetic, the result
# of the check can serve as the reward (Lambert et al. 2024).
#
# **Direct preference optimisation** (DPO, Rafailov et al. 2023) needs neither a reward model nor generated answers. Solved for the reward, the formula for π*
# gives r(y) = β log(π*(y) / π_ref(y)) plus a constant. The constant cancels in σ(r₁ − r₂). If we replace π* with the model being trained, the loss depends only
# on log-probabilities of answers.

# %% nbgrader={"grade": false, "grade_id": "assistant-answer_log_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_log_p(
    logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]
) -> Float[Tensor, "B"]:
    """log p of each answer: the sum over its tokens.  (difficulty ●●○, 5 minutes)

    The logits at t predict the token at t + 1. The labels are those of sft_labels, with −100
    for tokens that do not count; the first token never counts. A sequence without labels
    gets 0. Logits may differ by hundreds: a probability can then be 0 in float32, but its
    logarithm must stay finite. Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    log_p, targets = logits[:, :-1].log_softmax(dim=-1), labels[:, 1:]   # B T-1 V, B T-1
    found = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return (found * (targets != -100)).sum(dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-answer_log_p-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.answer_log_p", lambda case: answer_log_p(
    case["logits"], case["labels"]
), gradients=True)

# %% nbgrader={"grade": false, "grade_id": "assistant-dpo_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dpo_loss(
    chosen: Float[Tensor, "B"], rejected: Float[Tensor, "B"],
    ref_chosen: Float[Tensor, "B"], ref_rejected: Float[Tensor, "B"], beta: float,
) -> Float[Tensor, ""]:
    """The mean of −log σ(beta · margin) over all pairs.  (difficulty ●●○, 5 minutes)

    The four tensors contain log-probabilities of whole answers: those of the chosen and of the
    rejected answers, under the policy and under the reference. Relative to the reference, the
    policy has changed the log-probability of each answer. The margin is this change for the
    chosen answer minus the change for the rejected answer. The loss must stay finite even for
    margins of several hundred, positive or negative.
    Autograd must be able to differentiate the result.
    """
    ### BEGIN SOLUTION
    margin = (chosen - ref_chosen) - (rejected - ref_rejected)
    return -logsigmoid(beta * margin).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-dpo_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.dpo_loss", lambda case: dpo_loss(**case), gradients=["chosen", "rejected"])

# %% nbgrader={"grade": false, "grade_id": "assistant-dpo_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dpo_step(policy, reference, chosen, rejected, optimiser, beta: float) -> float:
    """One step of DPO; returns the loss before the step.  (difficulty ●●○, 7 minutes)

    policy and reference map ids (B, T) to logits (B, T, V). chosen and rejected are pairs
    (ids, labels). Only the policy is trained: run the reference without gradients. The
    optimiser contains the policy's parameters, which may still have old gradients. Use
    answer_log_p and dpo_loss.
    """
    ### BEGIN SOLUTION
    ours = [answer_log_p(policy(ids), labels) for ids, labels in (chosen, rejected)]
    with torch.no_grad():
        theirs = [answer_log_p(reference(ids), labels) for ids, labels in (chosen, rejected)]
    loss = dpo_loss(*ours, *theirs, beta)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    return loss.item()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-dpo_step-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("assistant.dpo_step", lambda case: try_steps(dpo_step, case))

# %% [markdown]
# How far has a policy moved from its reference? The [KL divergence](../../docs/glossary.md#kullbackleibler-divergence-kl) measures this distance in nats per
# token. At each position of a given text, we can compute it exactly, as a sum over the vocabulary. (In the objective above, however, the policy generates the
# texts itself.)

# %% nbgrader={"grade": false, "grade_id": "assistant-kl_to_reference", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kl_to_reference(
    logits: Float[Tensor, "B T V"], ref_logits: Float[Tensor, "B T V"],
    counts: Bool[Tensor, "B T"],
) -> Float[Tensor, ""]:
    """KL(policy ‖ reference) in nats per token, exact over the vocabulary.
    (difficulty ●●○, 5 minutes)

    Compute Σ_v p(v) (log p(v) − log p_ref(v)) at each position, and then the mean over all
    positions where `counts` is true. Logits may differ by hundreds, so that p(v) or p_ref(v)
    is 0 in float32; the result must still be finite.
    """
    ### BEGIN SOLUTION
    log_p, log_ref = logits.log_softmax(dim=-1), ref_logits.log_softmax(dim=-1)
    each = (log_p.exp() * (log_p - log_ref)).sum(dim=-1)                                # B T
    return each[counts].mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-kl_to_reference-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.kl_to_reference", lambda case: kl_to_reference(**case))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def learn_preferences(beta: float, lr: float, seed: int, pairs: int = 2000, steps: int = 250, rows: int = 64):
    """Train with DPO on comparisons of two-word continuations; return the policy and the reference's tables."""
    reference, tables = instructions.reference()
    policy, draw = deepcopy(reference).requires_grad_(True), torch.Generator().manual_seed(seed)
    begun = instructions.prompt_ids()
    prompts, chosen, rejected = instructions.preferred(tables, pairs, draw)
    optimiser = torch.optim.Adam(policy.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, steps)
    for step in range(steps):
        number = step % len(begun)
        where = (prompts == number).nonzero()[:, 0]
        some = where[torch.randint(len(where), (rows,), generator=draw)]
        sides = [instructions.with_labels(begun[number], words[some]) for words in (chosen, rejected)]
        dpo_step(lambda ids: policy(ids).logits, lambda ids: reference(ids).logits, *sides, optimiser, beta)
        schedule.step()
    return policy, tables

def judged(policy, tables, beta: float) -> dict[str, float]:
    """The reward, and the KL divergences to the reference and to π*, computed exactly over all two-word continuations and averaged over prompts."""
    reward, found = instructions.all_rewards(), []
    for prompt, log_ref in zip(instructions.prompt_ids(), tables):
        log_p = instructions.two_words(policy, prompt)
        log_best = best_policy(log_ref.flatten(), reward.flatten(), beta).view_as(log_ref)
        found.append({
            "reward": (log_p.exp() * reward).sum().item(), "best_reward": (log_best.exp() * reward).sum().item(),
            "ref_reward": (log_ref.exp() * reward).sum().item(), "to_ref": instructions.kl(log_p, log_ref),
            "best_to_ref": instructions.kl(log_best, log_ref), "to_best": instructions.kl(log_p, log_best),
            "ref_to_best": instructions.kl(log_ref, log_best),
        })
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}

# %% [markdown]
# We now run your `dpo_step` 250 times at β = 1 on 2,000 comparisons of continuations that the reference generated. All rewards are means over three prompts,
# including the prompt above.
#
# **Predict:** π* has a higher reward than the reference. What fraction of this difference does DPO gain?

# %% tags=["demo"]
predict("assistant.share_of_reward", ...)

# %% tags=["demo"]
print("This takes about fifteen seconds.")
policy, _ = learn_preferences(beta=1.0, lr=3e-4, seed=0)
found = judged(policy, reference_tables, beta=1.0)
gained, possible = (found[name] - found["ref_reward"] for name in ("reward", "best_reward"))
reveal("assistant.share_of_reward", gained / possible)

sentences = instructions.plain_text()[0][:200]
with torch.no_grad():
    per_token = kl_to_reference(
        policy(sentences).logits, reference(sentences).logits, sentences != 0
    ).item()
tables.preferences_learned(found, per_token)
displaced = preferences.displaced(policy, best_policy, reference_tables)
tables.displacement(displaced)

# %% [markdown]
# After DPO, most of the *chosen* answers are less probable than before, although the reward has increased. This effect is called **likelihood displacement**
# (Razin et al. 2024): the loss only requires that the probability of the rejected answers falls further. Displacement need not be harmful. π* also lowers the
# log-probability of the chosen answers on average, because it moves probability to even longer words.

# %% tags=["demo"]
recorded_runs = preferences.recorded_preferences()
best_curve = instructions.best_possible(reference_tables, np.geomspace(5, 0.08, 60))
pictures.frontier(recorded_runs, best_curve)

# %% [markdown]
# The smaller β is, the higher the reward and the greater the distance from the reference, for every seed. At β = 1, DPO ends up closer to π* than the reference
# is. At β = 0.1 and 0.3, DPO is still far from π* after 250 steps. The compared answers were sampled from the reference, which hardly ever generates
# "championships championships", and answers that occur in no pair have no effect on the loss.
#
# At β = 3, the best policy is very close to the reference. Trained on 2,000 noisy comparisons, DPO moves further from the reference than π* does. We cannot
# detect that DPO ends closer to π* than the reference is: the confidence interval of the difference includes 0. All runs use the same learning rate.

# %% [markdown]
# ## 6 · A real assistant as a judge
#
# SmolLM2 (07, 13), here with most weights rounded to 4 bits, has received both kinds of training; larger models wrote most of the answers that it imitated (Ben
# Allal et al. 2025). We use it to judge reviews (`data/sentiment`, 09). A review's score is log p(" positive") − log p(" negative") after "Review: …
# Sentiment:"; a score above 0 means *positive*. The accuracy depends on this **threshold**, but the order of the scores does not. We measure the order by the
# area under the ROC curve (AUC): the fraction of pairs of a positive and a negative review in which the positive review has the higher score.

# %% nbgrader={"grade": false, "grade_id": "assistant-in_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
def in_order(scores: Float[Tensor, "N"], positive: Bool[Tensor, "N"]) -> Float[Tensor, ""]:
    """The fraction of pairs of a positive and a negative review in which the positive review
    has the higher score.  (difficulty ●○○, 4 minutes)

    A pair with equal scores counts as one half. There is at least one positive and one
    negative review.
    """
    ### BEGIN SOLUTION
    gap = scores[positive][:, None] - scores[~positive]   # positives others
    return ((gap > 0).double() + (gap == 0).double() / 2).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-in_order-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.in_order", lambda case: in_order(case["scores"], case["positive"]))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from coursekit import judges
from coursekit.instruction_tuning import add_lora

def tune_judge(judge, texts: list[str], positive: list[bool], lr: float, epochs: int, seed: int, rows: int = 8) -> int:
    """Train on the answers to question 1, with linear decay; return the number of trainable parameters."""
    torch.manual_seed(seed)
    learning, order = add_lora(judge.model, LoRALinear), np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(learning, lr=lr, weight_decay=0.0)
    good, bad = judges.answer_tokens(judge.tokenizer)
    targets = torch.where(torch.tensor(positive), good, bad)
    batches = [part for _ in range(epochs) for part in np.array_split(order.permutation(len(texts)), len(texts) // rows)]
    for step, some in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = lr * (1 - step / len(batches))
        loss = cross_entropy(judges.next_logits(judge, [texts[n] for n in some]), targets[some])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return sum(weight.numel() for weight in learning)

# %% [markdown]
# We compare four ways to judge the same 160 test reviews:
#
# - zero-shot: the prompt contains only the review;
# - few-shot: the prompt also contains eight examples (three different draws);
# - LoRA: your LoRALinear in SmolLM2's query and value projections, trained on 128 reviews for two epochs;
# - MiniLM, an encoder: fully fine-tuned on the same number of reviews for four epochs (09).
#
# The last two models were trained with three seeds each, at one learning rate fixed in advance. Training takes minutes, so we recorded the results (`python -m
# experiments assistant_reviews`).
#
# **Predict:** how much higher is the accuracy with LoRA than with the zero-shot prompt (as a fraction)?

# %% tags=["demo"]
predict("assistant.lora_adds", ...)

# %% tags=["demo"]
from coursekit.judged_reviews import recorded_judges

reviews = recorded_judges()
summary = reviews.summary(in_order)
accuracy = summary["accuracy"]
reveal("assistant.lora_adds", accuracy["SmolLM2, your LoRA"] - accuracy["SmolLM2, zero-shot"])
tables.costs(reviews)
pictures.judged_reviews(summary, reviews.per_run)

# %% [markdown]
# LoRA is more accurate than MiniLM. MiniLM is also overconfident: its confidence exceeds its accuracy by 14 points. The confidence of SmolLM2, zero-shot or
# with LoRA, agrees with its accuracy to within the 95 % interval. However, MiniLM is much cheaper: it needs a third of LoRA's training time and an eighth of
# its inference time.

# %% [markdown]
# With 160 reviews, no gain of LoRA over the zero-shot prompt can be detected. The eight examples reduce the accuracy, because they shift the scores relative to the
# threshold: with the three draws, about a fifth, a tenth and four fifths of the reviews are judged *positive*. No change of the AUC can be
# detected: the 95 % interval of the difference from zero-shot, which is not drawn, includes 0.
#
# All these results hold for one learning rate per method, and for a question that suits SmolLM2 particularly well, as the next section shows.

# %% [markdown]
# ## 7 · What a score hides
#
# **The prompt.** Without any training, we ask SmolLM2 eight different questions about the same reviews.
#
# **Predict:** how much higher is the accuracy with the best question than with the worst question (as a fraction)?

# %% tags=["demo"]
predict("assistant.questions_apart", ...)

# %% tags=["demo"]
by_question = reviews.by_question(in_order)
accuracies = by_question["accuracy"]
reveal("assistant.questions_apart", accuracies.max() - accuracies.min())
tables.questions(by_question)
pictures.questions_asked(by_question, int(reviews.is_test.sum()))

# %% [markdown]
# Question 1 gives the highest accuracy, and nothing in its wording explains why. Questions 3 and 4 order the reviews about as well: the confidence interval
# of the difference, which is not drawn, includes 0. Their accuracy, however, is much lower: with these questions, nine reviews in ten are judged *positive*,
# so the threshold 0 is wrong. With question 5, the answer is *good* for every review, yet the order is better than with questions 2, 6 and 7.
#
# The accuracy with one prompt is a single draw. Report the mean over several prompts with its interval (the diamonds), for both accuracy and AUC.

# %% [markdown]
# Models also grade the answers of other models (**LLM as a judge**). When such a model is asked which of two answers is better, it often favours the answer
# shown first (**position bias**, Zheng et al. 2023). Therefore, show the answers in both orders, and report the judge's agreement with people, for instance
# Cohen's κ (11).

# %% [markdown]
# **The leak.** Text from the web contains public tests with their answers. We reproduce this **contamination** on a task whose best possible score is known. We train
# the GPT on 512 questions, some of them taken from a test, and evaluate it on this test and on another test.
#
# Questions leak in two ways. Either they are copied verbatim, or one of the four words is changed but the answer is kept ("earlier the pitchers were" for
# "yesterday the pitchers were").

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def contaminated(copies: float, words_changed: int, epochs: int, seed: int, labels: int = 512, lr: float = 1e-3) -> dict[str, float]:
    """Full tuning on `labels` questions, a fraction of which are test questions with their answers, verbatim or with one word changed."""
    tests, others = (instructions.ask(512, np.random.default_rng(1000 + part), "held_out") for part in (seed, 500 + seed))
    fresh = instructions.ask(labels, np.random.default_rng(seed), "train")
    leaked = tests[: round(copies * labels)]
    if words_changed:
        leaked = instructions.reworded(leaked, np.random.default_rng(2000 + seed))
    mixed = instructions.Questions(*(
        (torch.cat if isinstance(one, Tensor) else np.concatenate)([one, other[len(leaked) :]])
        for one, other in zip(vars(leaked).values(), vars(fresh).values())
    ))
    model = prepared("full")
    train_on(model, mixed, lr, epochs * labels // 32, seed)
    model.eval()
    return {
        "leaked": len(leaked), "found verbatim": instructions.verbatim(tests, mixed),
        "test": instructions.right(model, tests).mean(), "another test": instructions.right(model, others).mean(),
        "best possible": float((tests.guess == tests.topic.numpy()).mean()), "bound": float(tests.best.mean()),
    }

# %% tags=["demo"]
leaks = recorded_leaks()
tables.found_verbatim(leaks)
pictures.leaked(leaks)

# %% [markdown]
# If the training set contains the whole test, the model answers 99 % of it correctly after 16 epochs. Nobody *can* know more than about three answers in four,
# so a score this far above the best possible score shows memorisation, not knowledge. On the other test, we detect no gain. After 4 epochs, the score on the
# leaked test has also risen, but it is still below the best possible score for each of the three seeds. In this case, only the other test reveals the leak. For
# real tests, the bound is unknown, and a score of 99 % looks like success.

# %% [markdown]
# With one word changed, a verbatim search for the test questions finds hardly more of them in the training set than if nothing had leaked. If all questions
# leak in this way, however, the score after 16 epochs exceeds the best possible score on the same test for each of the three seeds. (The dashed line shows
# the mean of the three best possible scores.) A verbatim search therefore misses such leaks (Yang et al. 2023).

# %% [markdown]
# **Question 1 · Checking a claim about an assistant.** A company reports: "After preference tuning, our assistant answers 92 % of a public test correctly; the base model answers 71 %." You may
# request three further numbers or experiments. Which would you choose, and what would each of them show? (4–6 sentences)

# %% [markdown] nbgrader={"grade": true, "grade_id": "assistant-reflection-1", "locked": false, "points": 2, "schema_version": 3, "solution": true, "task": false}
# First, I would ask for the accuracy of both models on a test that cannot have been in the training data because it was written later or kept secret. If the
# assistant scores much lower there, the public test has leaked into pre-training or tuning. Second, I would ask for the accuracy of both models over several
# prompts, with an interval over prompts and items, and for their AUC or their accuracy at a threshold chosen for each model. The base model may know the
# answers but favour one label; in that case, tuning has only moved the threshold. Third, I would measure the cost of tuning: the loss on plain text before and
# after, and the KL divergence to the reference, because a policy can gain reward by giving up other abilities. Each number needs a baseline: tuning on random
# preferences, the best possible score or a human score, and the base model with examples in its prompt.
#
# *Marking: 1 point for two threats to the score, each with an experiment that would reveal it (leak: a fresh test; prompt or threshold: several prompts, AUC;
# unfair baseline: examples in the base model's prompt); 1 point for abilities that were lost (forgetting, KL divergence to the reference, over-optimised
# reward) or for suitable baselines and intervals.*

# %% [markdown]
# ## 8 · Further: find the bug
#
# In 2023, an example script in trl, a library for fine-tuning with preferences, was meant to merge LoRA into a model and save the result. Instead, it saved the
# weights of the base model (issue 386). `unload` below contains the same bug. Fix this bug in `mended_unload`.

# %%
def unload(model: torch.nn.Module) -> torch.nn.Module:
    """Replace every LoRALinear in the model with a plain layer."""
    for name, part in model.named_children():
        if isinstance(part, LoRALinear):
            setattr(model, name, part.base)
        else:
            unload(part)
    return model

# %% nbgrader={"grade": false, "grade_id": "assistant-mended_unload", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_unload(model: torch.nn.Module) -> torch.nn.Module:
    """unload with the bug fixed.  (difficulty ●●○, 6 minutes)

    Replace every LoRALinear inside the model, at any depth, with the plain layer that `merge`
    returns. Change the model itself and return it.
    """
    ### BEGIN SOLUTION
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LoRALinear):
                setattr(module, name, merge(child))
    return model
    ### END SOLUTION

# %% course={"extra_credit": 2} nbgrader={"grade": true, "grade_id": "assistant-mended_unload-check", "locked": true, "points": 0, "schema_version": 3, "solution": false, "task": false}
check("assistant.mended_unload", lambda case: try_unloading(LoRALinear, mended_unload, case))

# %% tags=["demo"]
unload_error = {
    name: tables.unloaded(how(deepcopy(live)), live, tests, name)
    for name, how in {"unload": unload, "mended_unload": mended_unload}.items()
}

# %% [markdown]
# The shapes do not reveal this bug, because there is a linear layer wherever one is expected. Comparing the logits before and after unloading reveals it.

# %% [markdown]
# The bug has a page of its own, with a short example and a test that would have caught it: [The fine-tuning that was not saved](../../docs/bugs/14_adapter_left_behind.md).

# %% [markdown]
# ## Summary
#
# - In supervised fine-tuning, usually only the assistant's tokens count in the loss; packing needs boundaries for labels, attention and learned positions.
# - LoRA trains a low-rank update of frozen weights; once merged, the update costs no extra time.
# - With 40 examples, LoRA changes the format of a real assistant's answers, but not only where the format is wanted.
# - Tuning can raise accuracy while the model forgets part of the language, so measure both.
# - DPO approximates the policy proportional to π_ref · exp(r/β). With a small β, the policy follows the reward even where the reward is wrong.
# - A score depends on the threshold, the prompt and the text that leaked into the training data.

# %% [markdown]
# ## References
#
# - Ben Allal, L. et al. (2025). SmolLM2: when Smol goes big. Data-centric training of a small language model. arXiv:2502.02737.
# - Biderman, D. et al. (2024). LoRA learns less and forgets less. *Transactions on Machine Learning Research*. arXiv:2405.09673.
# - Bradley, R. A. and Terry, M. E. (1952). Rank analysis of incomplete block designs: I. The method of paired comparisons. *Biometrika* 39(3/4), 324–345.
# - Gao, L., Schulman, J. and Hilton, J. (2023). Scaling laws for reward model overoptimization. *ICML*. arXiv:2210.10760.
# - Hu, E. J. et al. (2022). LoRA: low-rank adaptation of large language models. *ICLR*. arXiv:2106.09685.
# - Kalajdzievski, D. (2023). A rank stabilization scaling factor for fine-tuning with LoRA. arXiv:2312.03732.
# - Lambert, N. et al. (2024). Tülu 3: pushing frontiers in open language model post-training. arXiv:2411.15124.
# - Mangrulkar, S. et al. (2022). PEFT: state-of-the-art parameter-efficient fine-tuning methods. github.com/huggingface/peft.
# - Ouyang, L. et al. (2022). Training language models to follow instructions with human feedback. *NeurIPS* 35. arXiv:2203.02155.
# - Rafailov, R. et al. (2023). Direct preference optimization: your language model is secretly a reward model. *NeurIPS* 36. arXiv:2305.18290.
# - Razin, N., Malladi, S., Bhaskar, A., Chen, D., Arora, S. and Hanin, B. (2024). Unintentional unalignment: likelihood displacement in direct preference optimization. arXiv:2410.08847.
# - Schick, T. et al. (2023). Toolformer: language models can teach themselves to use tools. *NeurIPS* 36. arXiv:2302.04761.
# - trl (2023). Lora weights are not merged properly in merge_peft_adapter. github.com/huggingface/trl/issues/386.
# - trl (2024). Packing without cross contamination. github.com/huggingface/trl/issues/1230.
# - Willard, B. T. and Louf, R. (2023). Efficient guided generation for large language models. arXiv:2307.09702.
# - Yang, S., Chiang, W.-L., Zheng, L., Gonzalez, J. E. and Stoica, I. (2023). Rethinking benchmark and contamination for language models with rephrased samples. arXiv:2311.04850.
# - Zheng, L. et al. (2023). Judging LLM-as-a-judge with MT-Bench and Chatbot Arena. *NeurIPS* 36. arXiv:2306.05685.

# %% [markdown]
# Next: [15 · Taking a model apart](../15_circuits/15_circuits.ipynb). The [start page](../start.ipynb) shows your progress.

# %% tags=["demo"]
from coursekit import predictions

predictions()
