"""The mistakes that are made of any solution, whatever it computes."""

import pytest

from autograder.authoring.generic import generic_mistakes


def changes(body, before="", parameters="x, tags, k"):
    lines = [f"def answer({parameters}):", *(f"    {line}" for line in body.splitlines())]
    source = before + "\n".join(lines) + "\n"
    found = [mutant.source for mutant in generic_mistakes("small.answer", source)]
    for one in found:
        compile(one, "<cell>", "exec")
    return found


@pytest.mark.parametrize(
    ("body", "mistake"),
    [
        ("return torch.bincount(x, minlength=k)", "return torch.bincount(x)"),
        ("return x.softmax(x, -1)", "return x.softmax(x)"),
        ("return answer(x)", "return x"),
        ("return x.abs().sum()", "return x.sum()"),
        ("for row in x:\n    k = row\nreturn k", "k = row\n        break"),
        ("return [row for row in x if row]", "[row for row in list(x)[:1] if row]"),
        ("return [row for row in x if row]", "[row for row in x]"),
        ("return x if k and tags else tags", "x if tags else tags"),
        ("return x if k else tags", "return tags"),
        ("if k:\n    return x\nreturn tags", "if False:"),
        ("return x[1:]", "return x[:]"),
        ("return x[:, 0]", "return x[:, -1]"),
        ("return x[-1]", "return x[0]"),
        ("return x.argmax(dim=0)", "return x.argmin(dim=0)"),
        ("return x, k", "return (k, x)"),
        ("before = k\nreturn k == before, tags[k]", "None not in (k, before) and tags[k] == tags[before]"),
    ],
)
def test_a_kind_of_mistake_is_made(body, mistake):
    assert any(mistake in source for source in changes(body))


def test_only_what_a_student_writes_is_changed():
    given = "def given(x):\n    return x.sum(dim=0)\n\n"
    body = "### BEGIN SOLUTION\nreturn x.mean(dim=1)\n### END SOLUTION"
    found = changes(body, given)
    assert found and all("x.sum(dim=0)" in source for source in found)
    assert len(set(found)) == len(found)
