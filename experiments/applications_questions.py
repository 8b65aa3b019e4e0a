"""Can a head on a small encoder find the answer to a question in its paragraph, and tell when there is none?

Notebook 10: the best span for every validation and test question, its margin, and where start and end alone point, for
the frozen and the fine-tuned encoder, next to the sentence that shares most words with the question; and the start and
end scores of one model. Answers are recorded, not scores. Writes `data/results/applications_questions.csv` and
`data/results/applications_span_scores.csv` (three minutes).
"""

from collections.abc import Iterator

import torch

from experiments.applications import FROZEN, NOTEBOOK, TUNED, Heads, runs_of
from experiments.datasets import questions
from experiments.harness import Experiment, Options, Step, Steps
from experiments.notebooks import names_of

SENTENCE = "likeliest sentence"


def _steps(options: Options) -> Steps:
    names = names_of(NOTEBOOK)
    table, offsets = names["questions"], []
    asked = torch.cat([names["part"](table, split) for split in ("validation", "test")]).tolist()

    def rows_of(*arguments):
        rows, offsets[:] = names["question_rows"](*arguments)
        return rows

    heads = Heads(rows_of, names["span_loss"], table, outputs=2, epochs_and_rate=(3, 3e-4))

    def by_shared_words() -> Iterator[dict]:
        for n in asked:
            row = table.iloc[n]
            low, high = questions.likeliest_sentence(row)
            answer = row["context"][low:high].strip()
            yield {"id": row["id"], "answer": answer, "margin": 0.0, "start": 0, "end": 0}

    def measure(model: str, seed: int) -> dict:
        if model == SENTENCE:
            return {"applications_questions": by_shared_words()}
        (trained, rows), spans, scores = heads.trained(model, seed), [], []
        for n in asked:
            batch, row = rows[torch.tensor([n])], table.iloc[n]
            with torch.no_grad():
                start, end = (logits[0] for logits in names["span_scores"](trained, batch))
            first, last, margin = names["best_span"](start, end, batch.more[0], names["MAX_LEN"])
            answer = row["context"][offsets[n][first][0] : offsets[n][last][1]]
            alone = {"start": start.argmax().item(), "end": end.argmax().item()}
            spans.append({"id": row["id"], "answer": answer, "margin": float(margin)} | alone)
            if row["split"] == "test":
                tenths = [" ".join(f"{x:.1f}" for x in logits.tolist()) for logits in (start, end)]
                scores.append(dict(zip(("id", "start", "end"), (row["id"], *tenths), strict=True)))
        found = {"applications_questions": spans}
        return found | {"applications_span_scores": scores} if (model, seed) == (TUNED, 0) else found

    yield Step(
        "applications_questions",
        runs_of((SENTENCE,), (FROZEN, TUNED), list(options.seeds)),
        measure,
        digits=3,
    )


EXPERIMENT = Experiment(_steps, seeds=range(3))
