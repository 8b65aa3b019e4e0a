"""What a note makes of its words."""

import pytest

from autograder.checks.notes import in_html


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("has d as its *rows*.", "has d as its <em>rows</em>."),
        ("`keys.T` swaps them", "<code>keys.T</code> swaps them"),
        ("a * b * c, 2*x*y, f(*args, **kwargs), **bold**", "a * b * c, 2*x*y, f(*args, **kwargs), **bold**"),
        ("<b> & `<i>` *<u>*", "&lt;b&gt; &amp; <code>&lt;i&gt;</code> *&lt;u&gt;*"),
    ],
)
def test_names_are_code_and_one_word_may_be_emphasised(words, html):
    assert in_html(words) == html
