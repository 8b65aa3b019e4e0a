"""Record data/results/applications_*.csv: the answers that notebook 10 scores (about 10 minutes on one core).

    python tools/record_applications.py                     # all five tables
    python tools/record_applications.py sentiment           # or one of: sentiment entities sizes questions prompts

Answers are kept, not scores: the notebook computes the scores with what the student wrote. The functions that train and
answer are the cells of the instructor's source, so that notebook and tables cannot differ.
"""

import os
import re
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # the packaged models, which everybody has

import figures_entities
import figures_questions
import figures_sentiment
import numpy as np
import pandas as pd
import torch
from notebook_names import names_of
from transformers import BertModel

from coursekit.models import load

ROOT = Path(__file__).parents[1]
SEEDS = (0, 1, 2)
UNTRAINED = (0,)
EPOCHS_AND_RATE = {"sentiment": (3, 2e-4), "entities": (5, 5e-4), "questions": (3, 3e-4)}
HEAD_EPOCHS_AND_RATE = (20, 5e-3)


class HeadRecorder:
    """Trains the heads of a task for each seed, on what the pre-trained and the untrained encoder make of its rows."""

    def __init__(self) -> None:
        self.names = names_of("10_applications")
        self.loaded = load("bert-base-uncased")

    def models(
        self, task: str, rows_of, loss_of, table: pd.DataFrame, outputs: int, marks=(0,), untrained=UNTRAINED
    ):
        """(name, seed, trained model, its rows) for all that is compared."""
        names, encoder, tokenizer = self.names, self.loaded.model, self.loaded.tokenizer
        layers, half = encoder.config.num_hidden_layers, names["HALF"]
        train = names["part"](table, "train")

        def trained(base: BertModel, below: int, rows, seed: int, marks: int):
            torch.manual_seed(seed)
            model = names["Upper"](base, below, outputs, marks)
            epochs, rate = HEAD_EPOCHS_AND_RATE if below == layers else EPOCHS_AND_RATE[task]
            return names["fine_tune"](model, loss_of, rows, train, epochs, rate, seed)

        rows = rows_of(encoder, tokenizer, layers)
        for seed in SEEDS:
            yield "frozen", seed, trained(encoder, layers, rows, seed, 0), rows
        rows = rows_of(encoder, tokenizer, half)
        for mark in marks:
            name = "fine-tuned, with capitals" if mark else "fine-tuned"
            for seed in SEEDS:
                yield name, seed, trained(encoder, half, rows, seed, mark), rows
        for seed in untrained:
            torch.manual_seed(100 + seed)
            base = BertModel(encoder.config).eval()
            rows = rows_of(base, tokenizer, half)
            yield "random weights", seed, trained(base, half, rows, seed, 0), rows

    # -------------------------------------------------------------------------------------- the three tasks

    def sentiment(self) -> None:
        """Which reviews of the test split are called positive."""
        names = self.names
        reviews, found = names["reviews"], []
        test = names["part"](reviews, "test")
        right = figures_sentiment.logistic_regression(figures_sentiment.bag_of_words(reviews), reviews)
        said = right == (reviews["label"] == "positive").to_numpy()
        found.append(("bag of words", 0, torch.from_numpy(said)[test].int().tolist()))
        models = self.models("sentiment", names["review_rows"], names["review_loss"], reviews, outputs=2)
        for name, seed, model, rows in models:
            with torch.no_grad():
                logits = torch.cat([names["review_logits"](model, rows[few]) for few in test.split(32)])
            found.append((name, seed, logits.argmax(dim=1).tolist()))
            say(name, seed, np.mean(logits.argmax(dim=1).numpy() == rows.labels[test].numpy()))
        ids = reviews["id"].iloc[test.numpy()]
        write("sentiment", [(name, seed, id, answer) for name, seed, all in found for id, answer in zip(ids, all, strict=True)],
              "model seed id positive")  # fmt: skip

    def entities(self) -> None:
        """The tags of the test sentences."""
        names, tokens = self.names, figures_entities.read()
        sentences = names["sentences"]
        test = names["part"](sentences, "test")
        ids, found = sentences.index[test.numpy()], []
        window = figures_entities.window(tokens)
        for name, tags in (
            ("most frequent tag", figures_entities.memory(tokens)),
            ("window of words", figures_entities.logistic_regression(window, tokens)),
        ):
            by_sentence = tokens.assign(tag=tags).groupby("sentence")["tag"].agg(list)
            found.append((name, 0, by_sentence[ids].tolist()))
        models = self.models(
            "entities", names["sentence_rows"], names["tag_loss"], sentences, len(names["TAGS"]), marks=(0, 2)
        )
        for name, seed, model, rows in models:
            found.append((name, seed, names["tags_of"](model, rows, test)))
            say(name, seed, names["entity_f1"](sentences["tag"].iloc[test.numpy()].tolist(), found[-1][2])[2])
        write("entities", [(name, seed, id, " ".join(tags)) for name, seed, all in found for id, tags in zip(ids, all, strict=True)],
              "model seed sentence tags")  # fmt: skip

    def sizes(self) -> None:
        """The tags of the test sentences, by taggers fine-tuned on a part of the sentences with about as many steps as on all."""
        names, encoder, found = self.names, self.loaded.model, []
        sentences = names["sentences"]
        train, test = (names["part"](sentences, split) for split in ("train", "test"))
        rows = names["sentence_rows"](encoder, self.loaded.tokenizer, names["HALF"])
        epochs, rate = EPOCHS_AND_RATE["entities"]
        for parts in (8, 4, 2):
            for seed in SEEDS:
                torch.manual_seed(seed)
                some = train[torch.randperm(len(train))[: len(train) // parts]]
                model = names["Upper"](encoder, names["HALF"], len(names["TAGS"]))
                names["fine_tune"](model, names["tag_loss"], rows, some, epochs * parts, rate, seed)
                tags = names["tags_of"](model, rows, test)
                found += [
                    (len(some), seed, id, " ".join(t))
                    for id, t in zip(sentences.index[test.numpy()], tags, strict=True)
                ]
                say(
                    f"{len(some)} sentences",
                    seed,
                    names["entity_f1"](sentences["tag"].iloc[test.numpy()].tolist(), tags)[2],
                )
        write("sizes", found, "sentences seed sentence tags")

    def questions(self) -> None:
        """The best span of every question of validation and test, its margin, and where start and end alone point."""
        names, found, scores = self.names, [], []
        table = names["questions"]
        asked = torch.cat([names["part"](table, split) for split in ("validation", "test")])
        for n in asked.tolist():
            row = table.iloc[n]
            low, high = figures_questions.likeliest_sentence(row)
            found.append(("likeliest sentence", 0, row["id"], row["context"][low:high].strip(), 0.0, 0, 0))

        offsets: list = []

        def rows_of(*arguments):
            rows, offsets[:] = names["question_rows"](*arguments)
            return rows

        for name, seed, model, rows in self.models(
            "questions", rows_of, names["span_loss"], table, outputs=2, untrained=()
        ):
            f1 = []
            for n in asked.tolist():
                batch, row = rows[torch.tensor([n])], table.iloc[n]
                with torch.no_grad():
                    start, end = (logits[0] for logits in names["span_scores"](model, batch))
                first, last, margin = names["best_span"](start, end, batch.more[0], names["MAX_LEN"])
                answer = row["context"][offsets[n][first][0] : offsets[n][last][1]]
                alone = start.argmax().item(), end.argmax().item()
                found.append((name, seed, row["id"], answer, round(float(margin), 3), *alone))
                if row["answerable"]:
                    f1.append(names["exact_match_and_f1"](answer, row["answers"])[1])
                if name == "fine-tuned" and seed == 0 and row["split"] == "test":
                    tenths = [" ".join(f"{x:.1f}" for x in logits.tolist()) for logits in (start, end)]
                    scores.append((row["id"], *tenths))
            say(name, seed, np.mean(f1))
        write("questions", found, "model seed id answer margin start end")
        write("span_scores", scores, "id start end")

    # -------------------------------------------------------------------------------------- a decoder, asked in words

    def prompts(self) -> None:
        """SmolLM2's answers to every second test review and test question, without training."""
        reviews, questions = self.names["reviews"], self.names["questions"]
        some = reviews[reviews["split"] == "test"].iloc[::2]
        asks = [
            f"Is this review positive or negative? Answer with one word.\n\n{text}" for text in some["text"]
        ]
        labels = likelier(asks, "This review is", ("positive", "negative"))
        found = [("sentiment", id, label) for id, label in zip(some["id"], labels, strict=True)]
        some = questions[questions["split"] == "test"].iloc[::2]
        asks = [
            f"{row.context}\n\n{row.question} Answer in a few words taken from the text. If the text does not say it, "
            "answer: none."
            for row in some.itertuples()
        ]
        found += [("questions", id, text) for id, text in zip(some["id"], asked(asks, 16), strict=True)]
        write("prompts", found, "task id answer")


def batches(asks: list[str], begun: str = "", rows: int = 16):
    """SmolLM2, its tokenizer, and 16 requests of like length at a time: their numbers, their tokens."""
    big = load("SmolLM2-135M", head="causal-lm")
    big.tokenizer.padding_side = "left"
    big.tokenizer.pad_token = big.tokenizer.pad_token or big.tokenizer.eos_token
    marked = [f"<|im_start|>user\n{ask}<|im_end|>\n<|im_start|>assistant\n{begun}" for ask in asks]
    order = np.argsort([len(sequence) for sequence in marked])
    for start in range(0, len(order), rows):
        few = order[start : start + rows]
        batch = big.tokenizer([marked[n] for n in few], padding=True, return_tensors="pt")
        yield big.model, big.tokenizer, few, batch
        print(f"\r{start + len(few)} of {len(order)} requests", end="", flush=True)
    print()


@torch.no_grad()
def asked(asks: list[str], tokens: int) -> list[str]:
    """SmolLM2's answers, each time the most probable token, on one line each."""
    answers = [""] * len(asks)
    for model, tokenizer, few, batch in batches(asks):
        written = model.generate(**batch, max_new_tokens=tokens, do_sample=False)
        texts = tokenizer.batch_decode(written[:, batch["input_ids"].shape[1] :], skip_special_tokens=True)
        for n, text in zip(few, texts, strict=True):
            answers[n] = re.sub(r"\s+", " ", text).strip()
    return answers


@torch.no_grad()
def likelier(asks: list[str], begun: str, options: tuple[str, ...]) -> list[str]:
    """The option whose first token SmolLM2 finds most probable behind the beginning of its answer."""
    answers = [""] * len(asks)
    for model, tokenizer, few, batch in batches(asks, begun):
        firsts = [tokenizer(f" {option}", add_special_tokens=False).input_ids[0] for option in options]
        best = model(**batch, logits_to_keep=1).logits[:, -1, firsts].argmax(dim=1)
        for n, option in zip(few, best.tolist(), strict=True):
            answers[n] = options[option]
    return answers


def say(name: str, seed: int, score: float) -> None:
    print(f"{name}, seed {seed}: {score:.3f}", flush=True)


def write(name: str, rows: list[tuple], columns: str) -> None:
    pd.DataFrame(rows, columns=columns.split()).to_csv(
        ROOT / f"data/results/applications_{name}.csv", index=False
    )


def main() -> None:
    torch.set_num_threads(1)
    recorder = HeadRecorder()
    for task in sys.argv[1:] or ("sentiment", "entities", "sizes", "questions", "prompts"):
        getattr(recorder, task)()


if __name__ == "__main__":
    main()
