# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · From base model to assistant

# %%
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid

from coursekit import check, hint, predict, reveal
from coursekit.assistants import conversations_of, try_lora, try_merge, try_steps, try_unloading, turns_of

# %% nbgrader={"grade": false, "grade_id": "assistant-sft_labels", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sft_labels(turns: list[tuple[str, list[int]]]) -> tuple[list[int], list[int]]:
    """The ids of a conversation in one row, and its labels.  (difficulty ●○○, 4 minutes)

    A turn is a role ("system", "user" or "assistant") and its ids, the turn's end token among them. Labels are the ids
    themselves in every turn of the assistant, and −100 elsewhere. They are not shifted: the loss does that.
    """
    ### BEGIN SOLUTION
    ids, labels = [], []
    for role, tokens in turns:
        ids += tokens
        labels += tokens if role == "assistant" else [-100] * len(tokens)
    return ids, labels
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-sft_labels-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.sft_labels", lambda case: sft_labels(turns_of(case)))

# %% nbgrader={"grade": false, "grade_id": "assistant-pack", "locked": false, "schema_version": 3, "solution": true, "task": false}
def pack(conversations: list[tuple[list[int], list[int]]], length: int) -> dict[str, Int[Tensor, "rows length"]]:
    """Conversations one behind the other in rows of `length` tokens.  (difficulty ●●●, 9 minutes)

    A conversation is what sft_labels gives, at most `length` long. They stay in order: one that no longer fits into the
    row begins the next. Four tables come back, by name:
    ids         0 where the row is empty;
    labels      −100 where it is empty, and at the first token of each conversation, before which nothing stands;
    positions   0, 1, 2, … in each conversation anew; 0 where the row is empty;
    segments    1 for the first conversation of a row, 2 for the second, …; 0 where the row is empty.
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

# %% nbgrader={"grade": false, "grade_id": "assistant-lora_linear", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LoRALinear(torch.nn.Module):
    """A linear layer that stays as it is, and a change of low rank beside it.  (difficulty ●●○, 8 minutes)

    parts     base: the layer that is given, frozen (its parameters ask for no gradient); A: (rank, in) and
              B: (out, rank), parameters of this module; scale: the number alpha / rank. A begins with small
              random numbers, B with zeros.
    forward   base(x) + scale · B A x, for x of shape (…, in).
    """

    def __init__(self, base: torch.nn.Linear, rank: int, alpha: float):
        super().__init__()
        ### BEGIN SOLUTION
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.A = torch.nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.B = torch.nn.Parameter(torch.zeros(base.out_features, rank))
        ### END SOLUTION

    def forward(self, x: Float[Tensor, "... in"]) -> Float[Tensor, "... out"]:
        ### BEGIN SOLUTION
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-lora_linear-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check("assistant.lora_linear", lambda case: try_lora(LoRALinear, case))

# %% nbgrader={"grade": false, "grade_id": "assistant-merge", "locked": false, "schema_version": 3, "solution": true, "task": false}
@torch.no_grad()
def merge(layer: LoRALinear) -> torch.nn.Linear:
    """A plain linear layer that gives what `layer` gives.  (difficulty ●●○, 4 minutes)

    Its weight is W + scale · B A; its bias is base's, or none where base has none. `layer` and its base stay as
    they are: to be merged again, they must not hold the change already.
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

# %% nbgrader={"grade": false, "grade_id": "assistant-answer_log_p", "locked": false, "schema_version": 3, "solution": true, "task": false}
def answer_log_p(logits: Float[Tensor, "B T V"], labels: Int[Tensor, "B T"]) -> Float[Tensor, "B"]:
    """log p of each answer: the sum over its tokens.  (difficulty ●●○, 5 minutes)

    Logits at t are about the token at t + 1. Labels are as sft_labels gives them, −100 where nothing counts; the
    first token is never counted. A row without labels gets 0.
    """
    ### BEGIN SOLUTION
    log_p, targets = logits[:, :-1].log_softmax(dim=-1), labels[:, 1:]                  # B T-1 V, B T-1
    found = log_p.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    return (found * (targets != -100)).sum(dim=1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-answer_log_p-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.answer_log_p", lambda case: answer_log_p(case["logits"], case["labels"]))

# %% nbgrader={"grade": false, "grade_id": "assistant-best_policy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_policy(
    log_ref: Float[Tensor, "... N"], reward: Float[Tensor, "... N"], beta: float
) -> Float[Tensor, "... N"]:
    """log π* of each of N answers.  (difficulty ●○○, 3 minutes)

    log_ref are the reference's log-probabilities of all N answers; π* ∝ π_ref · exp(reward / beta), and sums to 1.
    """
    ### BEGIN SOLUTION
    return (log_ref + reward / beta).log_softmax(dim=-1)
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-best_policy-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.best_policy", lambda case: best_policy(case["log_ref"], case["reward"], case["beta"]))

# %% nbgrader={"grade": false, "grade_id": "assistant-dpo_loss", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dpo_loss(
    chosen: Float[Tensor, "B"], rejected: Float[Tensor, "B"],
    ref_chosen: Float[Tensor, "B"], ref_rejected: Float[Tensor, "B"], beta: float,
) -> Float[Tensor, ""]:
    """The mean over pairs of −log σ(beta · margin).  (difficulty ●●○, 5 minutes)

    All four are log-probabilities of whole answers: of the chosen and the rejected one, under the policy and under the
    reference. The margin is how much more the policy has raised the chosen one, against its reference, than
    the rejected one. Must stay finite for margins of many hundreds.
    """
    ### BEGIN SOLUTION
    margin = (chosen - ref_chosen) - (rejected - ref_rejected)
    return -logsigmoid(beta * margin).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-dpo_loss-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.dpo_loss", lambda case: dpo_loss(**case))

# %% nbgrader={"grade": false, "grade_id": "assistant-dpo_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def dpo_step(policy, reference, chosen, rejected, optimiser, beta: float) -> float:
    """One step of DPO; returns the loss before it.  (difficulty ●●○, 7 minutes)

    policy and reference take ids (B, T) and give logits (B, T, V). chosen and rejected are each a pair (ids, labels).
    Only the policy learns: the reference is asked without gradients. The optimiser holds the policy's parameters,
    and old gradients may be in them. Use answer_log_p and dpo_loss.
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

# %% nbgrader={"grade": false, "grade_id": "assistant-kl_to_reference", "locked": false, "schema_version": 3, "solution": true, "task": false}
def kl_to_reference(
    logits: Float[Tensor, "B T V"], ref_logits: Float[Tensor, "B T V"], counts: Bool[Tensor, "B T"]
) -> Float[Tensor, ""]:
    """KL(policy ‖ reference) in nats per token, exact over the vocabulary.  (difficulty ●●○, 5 minutes)

    At each place Σ_v p(v) (log p(v) − log p_ref(v)); the mean over all places of the batch that count.
    """
    ### BEGIN SOLUTION
    log_p, log_ref = logits.log_softmax(dim=-1), ref_logits.log_softmax(dim=-1)
    each = (log_p.exp() * (log_p - log_ref)).sum(dim=-1)                                # B T
    return each[counts].mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-kl_to_reference-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.kl_to_reference", lambda case: kl_to_reference(**case))

# %% nbgrader={"grade": false, "grade_id": "assistant-in_order", "locked": false, "schema_version": 3, "solution": true, "task": false}
def in_order(scores: Float[Tensor, "N"], positive: Bool[Tensor, "N"]) -> Float[Tensor, ""]:
    """The share of pairs, one positive and one not, in which the positive has the higher score.  (difficulty ●○○, 4 minutes)

    Equal scores count one half. There is at least one of each.
    """
    ### BEGIN SOLUTION
    gap = scores[positive][:, None] - scores[~positive]                                 # positives others
    return ((gap > 0).double() + (gap == 0).double() / 2).mean()
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-in_order-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check("assistant.in_order", lambda case: in_order(case["scores"], case["positive"]))

# %% nbgrader={"grade": false, "grade_id": "assistant-mended_unload", "locked": false, "schema_version": 3, "solution": true, "task": false}
def mended_unload(model: torch.nn.Module) -> torch.nn.Module:
    """unload without its bug.  (difficulty ●●○, 6 minutes)

    Every LoRALinear inside the model, at whatever depth, becomes the plain layer of `merge`. The model itself is
    changed and comes back.
    """
    ### BEGIN SOLUTION
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LoRALinear):
                setattr(module, name, merge(child))
    return model
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "assistant-mended_unload-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check("assistant.mended_unload", lambda case: try_unloading(LoRALinear, mended_unload, case))

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
from copy import deepcopy

import numpy as np

from coursekit import instructions, small
from coursekit.intervals import mean_and_half

def answer_loss(model, questions) -> Float[Tensor, ""]:
    """The loss on answers alone, by your sft_labels: [BOS] beginning [SEP] is the user's, the answer and [EOS] the assistant's."""
    pairs = [sft_labels([("user", row[:-2]), ("assistant", row[-2:])]) for row in questions.ids.tolist()]
    ids, labels = (torch.tensor(part) for part in zip(*pairs))
    return cross_entropy(model(ids).logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())

def prepared(method: str):
    """The trained GPT, ready for a way of tuning: "full", "last layer" or "LoRA 4" (rank 4, on every linear layer)."""
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
    """Adam with a short warm-up and a linear decay, over shuffled batches of the questions; the loss at each step."""
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
    """Points and nats: right answers among 2,000 new questions, and what plain sentences cost above the bound."""
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

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def contaminated(copies: float, epochs: int, seed: int, labels: int = 512, lr: float = 1e-3) -> dict[str, float]:
    """Full tuning on `labels` questions, of which a share are test questions with their answers; the score on this test, and on another."""
    tests, others = (instructions.ask(512, np.random.default_rng(1000 + part), "held_out") for part in (seed, 500 + seed))
    fresh = instructions.ask(labels, np.random.default_rng(seed), "train")
    leaked = round(copies * labels)
    mixed = instructions.Questions(*(
        (torch.cat if isinstance(one, Tensor) else np.concatenate)([one[:leaked], other[leaked:]])
        for one, other in zip(vars(tests).values(), vars(fresh).values())
    ))
    model = prepared("full")
    train_on(model, mixed, lr, epochs * labels // 32, seed)
    model.eval()
    return {
        "test": instructions.right(model, tests).mean(), "another test": instructions.right(model, others).mean(),
        "best possible": float((tests.guess == tests.topic.numpy()).mean()), "bound": float(tests.best.mean()),
    }

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
def learn_preferences(beta: float, lr: float, seed: int, pairs: int = 2000, steps: int = 250, rows: int = 64):
    """DPO on comparisons of two-word continuations; the policy, and the reference's tables."""
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
    """Over all continuations by two words, the mean of the prompts: reward, distances to the reference and to π*."""
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

# %% tags=["demo", "record", "hide-input"] jupyter={"source_hidden": true}
ASKED = (                                            # how SmolLM2 is asked, and the two beginnings of its answer
    ("Review: {}\nSentiment:", " positive", " negative"),
    ("{}\nIs this review positive or negative? Answer:", " positive", " negative"),
    ("Is the following review positive or negative?\n{}\nIt is", " positive", " negative"),
    ("{}\nThe writer's opinion is", " positive", " negative"),
    ("{}\nOverall, it was", " good", " bad"),
    ("{}\nDid the writer like it? Answer yes or no:", " yes", " no"),
    ("{}\nWould the writer advise a friend to go there or buy it? Yes or no?", " Yes", " No"),
    ("<|im_start|>user\nIs this review positive or negative? Answer with one word.\n\n{}<|im_end|>\n<|im_start|>assistant\nThis review is",
     " positive", " negative"),
)

def encoded(tokenizer, texts: list[str]) -> tuple[Int[Tensor, "n T"], Int[Tensor, "n"]]:
    """Rows padded on the right, where no token before it looks, and the place of each row's last token."""
    rows = [torch.tensor(tokenizer(text, add_special_tokens=False).input_ids) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor([len(row) - 1 for row in rows])

def last_logits(model, ids, last) -> Float[Tensor, "n V"]:
    """What SmolLM2 predicts behind each text."""
    hidden = model.model(ids).last_hidden_state[torch.arange(len(ids)), last]
    return model.lm_head(hidden)

def first_tokens(tokenizer, answers) -> list[int]:
    return [tokenizer(answer, add_special_tokens=False).input_ids[0] for answer in answers]

@torch.no_grad()
def margins(model, tokenizer, texts: list[str], asked=ASKED[0], before: str = "", rows: int = 16) -> Float[np.ndarray, "n"]:
    """log p(positive answer) − log p(negative answer) behind each text's question."""
    form, *answers = asked
    yes, no = first_tokens(tokenizer, answers)
    order, found = np.argsort([len(text) for text in texts]), np.empty(len(texts))
    for some in np.array_split(order, -(-len(texts) // rows)):
        logits = last_logits(model, *encoded(tokenizer, [before + form.format(texts[n]) for n in some]))
        found[some] = (logits[:, yes] - logits[:, no]).numpy()
    return found

def add_lora(model, rank: int = 8, alpha: float = 16.0) -> list[Tensor]:
    """Your LoRALinear around queries and values of every layer; what learns."""
    model.requires_grad_(False)
    for layer in model.model.layers:
        for name in ("q_proj", "v_proj"):
            setattr(layer.self_attn, name, LoRALinear(getattr(layer.self_attn, name), rank, alpha))
    return [weight for weight in model.parameters() if weight.requires_grad]

def tune_smollm2(model, tokenizer, texts: list[str], positive: list[bool], lr: float, epochs: int, seed: int, rows: int = 8) -> int:
    """Trains the answer's token behind the first question of ASKED; the number of parameters that learn."""
    torch.manual_seed(seed)
    learning = add_lora(model)
    optimiser, order = torch.optim.AdamW(learning, lr=lr, weight_decay=0.0), np.random.default_rng(seed)
    form, *answers = ASKED[0]
    yes, no = first_tokens(tokenizer, answers)
    targets = torch.where(torch.tensor(positive), yes, no)
    batches = [part for _ in range(epochs) for part in np.array_split(order.permutation(len(texts)), len(texts) // rows)]
    for step, some in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = lr * (1 - step / len(batches))
        ids, last = encoded(tokenizer, [form.format(texts[n]) for n in some])
        loss = cross_entropy(last_logits(model, ids, last), targets[some])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return sum(weight.numel() for weight in learning)
