"""The checks see small changes of the solutions."""

from autograder.authoring.mutants import mutants

SOLUTION = '''
def f(x):
    """A docstring with 1 + 1."""
    ### BEGIN SOLUTION
    if x > 0:
        return x.sum(-1) / 2
    return -x
    ### END SOLUTION
'''


def test_mutants_change_operators_signs_constants_and_comparisons():
    changes = [mutant.change for mutant in mutants("f", SOLUTION)]
    for expected in (
        "if x >= 0",
        "if x > 1",
        "x.sum(-1) * 2",
        "x.sum(0) / 2",
        "x.sum(-2) / 2",
        "x.mean(-1) / 2",
        "/ 3",
        "return x`",
    ):
        assert any(expected in change for change in changes), expected
    assert not any("docstring" in change for change in changes)


MODULE = """
class Halves(nn.Module):
    def __init__(self, p):
        ### BEGIN SOLUTION
        super().__init__()
        self.first, self.second = nn.Linear(p, p // 2), nn.Linear(p // 2, p)
        ### END SOLUTION

    def given(self):
        return 7 + 7

    def forward(self, x):
        ### BEGIN SOLUTION
        return x + self.second(self.first(x).relu())
        ### END SOLUTION
"""


def test_mutants_of_a_module_leave_a_part_out_or_swap_two_in_each_region():
    changes = [mutant.change for mutant in mutants("Halves", MODULE)]
    for expected in (
        "nn.Linear(p, p * 2)",
        "return x - self.second",
        "x + self.first(x).relu()",
        "x + self.second(x.relu())",
        "x + self.first(self.first(x).relu())",
    ):
        assert any(expected in change.split(" → ")[1] for change in changes), expected
    assert not any("7" in change or "6" in change for change in changes)
