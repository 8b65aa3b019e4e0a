"""Experiments: what is in a table is not measured again, an interruption leaves tables whole, and the command explains itself."""

import pytest

from experiments.__main__ import experiments, main
from experiments.harness import (
    Card,
    Experiment,
    ExperimentError,
    Options,
    Step,
    Steps,
    Table,
    cell,
    grid,
    record,
)
from tests.conftest import ROOT


class Squares:
    """An experiment that counts what it measures, and is interrupted at one number."""

    def __init__(self, numbers: tuple[int, ...] = (1, 2, 3), stop: int | None = None):
        self.numbers, self.stop, self.measured = numbers, stop, []

    def steps(self, options: Options) -> Steps:
        yield Step("squares", grid(seed=options.seeds, number=self.numbers), self.measure)

    def measure(self, seed: int, number: int) -> dict:
        if number == self.stop:
            raise KeyboardInterrupt
        self.measured.append((seed, number))
        return {"square": number**2 / 3}

    def record(self, folder, **options) -> list[str]:
        return list(
            record(Experiment(self.steps, seeds=(0,)), Options(results=folder, **options), ["squares"])
        )


def test_a_run_that_is_missing_is_made_again_in_its_place_and_the_others_stay_as_they_are(tmp_path):
    Squares().record(tmp_path)
    table = tmp_path / "squares.csv"
    complete = table.read_text()
    assert complete == "seed,number,square\n0,1,0.3333\n0,2,1.3333\n0,3,3.0\n"
    table.write_text(complete.replace("0,2,1.3333\n", "").replace("3.0", "3.00"))
    again = Squares()
    lines = again.record(tmp_path)
    assert again.measured == [(0, 2)] and "3 runs" in lines[-1] and "1 of them new" in lines[-1]
    assert table.read_text() == complete.replace("3.0", "3.00")


def test_an_interruption_leaves_the_finished_runs_and_no_draft(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        Squares(stop=3).record(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["squares.csv"]
    assert (tmp_path / "squares.csv").read_text() == "seed,number,square\n0,1,0.3333\n0,2,1.3333\n"
    rest = Squares()
    rest.record(tmp_path)
    assert rest.measured == [(0, 3)]


def test_a_table_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    Squares().record(tmp_path)
    before = (tmp_path / "squares.csv").read_text()
    monkeypatch.setattr(
        "experiments.harness.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full"))
    )
    with pytest.raises(OSError, match="disk full"):
        Squares(numbers=(1, 2, 3, 4)).record(tmp_path)
    assert (tmp_path / "squares.csv").read_text() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_run_that_is_listed_twice_is_made_once(tmp_path):
    twice = Squares(numbers=(2, 3, 2))
    twice.record(tmp_path)
    assert twice.measured == [(0, 2), (0, 3)]


def test_seeds_and_restrictions_select_runs(tmp_path):
    some = Squares()
    some.record(tmp_path, seeds=(5, 6), only=[("number", "2"), ("number", "3")])
    assert some.measured == [(5, 2), (5, 3), (6, 2), (6, 3)]
    with pytest.raises(ExperimentError, match="have no 'sed'; they differ in seed, number"):
        some.record(tmp_path, only=[("sed", "5")])


def test_a_later_step_reads_what_an_earlier_one_has_written(tmp_path):
    def steps(options: Options) -> Steps:
        yield Step("tried", grid(rate=(0.1, 3e-05)), lambda rate: {"loss": rate}, digits=5)
        best = options.read("tried").set_index("rate")["loss"].idxmin()
        yield Step("chosen", grid(seed=(0,)), lambda seed: {"rate": best}, digits=5)

    for _ in range(2):  # the second time nothing is measured, and 3e-05 is recognised
        lines = list(record(Experiment(steps), Options(results=tmp_path)))
    assert len(lines) == 2 and (tmp_path / "chosen.csv").read_text() == "seed,rate\n0,3e-05\n"


def test_a_wide_table_gets_a_column_for_each_run_and_a_second_table_its_rows(tmp_path):
    def steps(options: Options) -> Steps:
        def measure(run: str) -> dict:
            return {"margins": [f"{run}{row}" for row in range(2)], "costs": {"seconds": 1}}

        yield Step("margins", grid(run=("a", "b", "c")), measure, wide=True)

    list(record(Experiment(steps), Options(results=tmp_path)))
    (tmp_path / "margins.csv").write_text("a,c\na0,c0\na1,c1\n")
    list(record(Experiment(steps), Options(results=tmp_path)))
    assert (tmp_path / "margins.csv").read_text() == "a,b,c\na0,b0,c0\na1,b1,c1\n"
    assert (tmp_path / "costs.csv").read_text() == "run,seconds\na,1\nb,1\nc,1\n"


def test_a_column_that_the_table_lacks_and_a_table_that_is_not_named_are_refused(tmp_path):
    (tmp_path / "squares.csv").write_text("seed,number\n")
    with pytest.raises(ExperimentError, match="squares.csv has no column 'square'"):
        Squares().record(tmp_path)
    with pytest.raises(ExperimentError, match="squares.csv"):
        list(record(Experiment(Squares().steps, seeds=(0,)), Options(results=tmp_path), ["others"]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3e-05, "3e-05"),
        (1.0, "1.0"),
        (True, "True"),
        (None, ""),
        (float("nan"), ""),
        (7, "7"),
        ("a,b", "a,b"),
    ],
)
def test_a_value_is_spelled_as_pandas_spells_it(value, text):
    assert cell(value) == text


def test_every_experiment_states_a_question_and_names_tables_that_exist():
    found = experiments()
    assert len(found) > 40
    for name, about in found.items():
        assert len(about.question.split()) >= 6 and "\n\n" not in about.doc.partition("?")[0], name
        assert about.files and all((ROOT / file).exists() for file in about.files), name
        assert name.startswith("datasets.") or about.tables, name


@pytest.mark.slow
def test_every_experiment_can_be_loaded():
    for name, about in experiments().items():
        assert isinstance(about.load(), Card if name.startswith("datasets.") else Experiment), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["skip_gram_exam", "warm_up", "cross_mask", "elmo_use", "gpt_few_shot", "fine_tuning", "applications_prompts",
     "sentences", "assistant_tuning"],
)  # fmt: skip
def test_the_code_of_each_notebook_is_found_and_the_committed_table_lacks_no_run(name):
    experiment = experiments()[name].load()
    options = Options(seeds=experiment.seeds)
    for step in experiment.steps(options):
        table = Table(options.path(step.table))
        assert step.runs and not [run for run in step.runs if not table.has(run, step.wide)]


def test_every_table_of_results_has_its_experiment_in_the_readme():
    readme = (ROOT / "data/results/README.md").read_text(encoding="utf-8")
    for name, about in experiments().items():
        for table in about.tables:
            (line,) = [
                line
                for line in readme.splitlines()
                if line.startswith("|") and f"`{table}.csv`" in line.split("|")[1]
            ]
            assert f"`python -m experiments {name}" in line or "the same command" in line, table


def test_the_list_names_every_experiment_its_question_and_what_it_writes(capsys):
    assert main([]) == main(["--list"]) == 0
    said = capsys.readouterr().out
    assert "Do deep encoders need warm-up" in said and "→ data/results/warm_up.csv" in said
    assert all(f"{name}\n" in said for name in experiments())


@pytest.mark.parametrize(("name", "said"), [("warmup", "did you mean warm_up?"), ("zzz", "lists them")])
def test_an_unknown_name_is_answered_in_one_sentence(name, said, capsys):
    assert main([name]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and repr(name) in error and said in error


@pytest.mark.slow
def test_help_shows_the_question_and_only_options_that_apply(capsys):
    for name, present, absent in (("warm_up", "--seeds", "--corpus"), ("novels_mixture", "--corpus", "zzz")):
        with pytest.raises(SystemExit):
            main([name, "--help"])
        said = capsys.readouterr().out
        assert experiments()[name].question.split()[-1] in said and present in said and absent not in said
