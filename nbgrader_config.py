"""nbgrader's settings for this course. Grading needs `pip install -e ./course -e ".[grading]"`."""

from pathlib import Path

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "words-in-context"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
# Everything in the source folder but the notebook would be copied into the release: no script leaves it.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback", ".*", "*.py"]

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # your turn"}
c.ClearSolutions.text_stub = "*Your answer.*"

# What this course's notebooks need; docs/instructors.md explains each setting.
c.Autograder.arrays = "torch"
c.Autograder.packages = ["coursekit"]
c.Autograder.readable = ["data"]
c.Autograder.preload = ["torch", "jaxtyping", "matplotlib.pyplot", "coursekit.plots"]
bert = "transformers.models.bert.modeling_bert"  # takes 3 s and 150 MB
c.Autograder.preload_where = {
    "transformers": bert,
    "coursekit.models": bert,
    "optimiser": "torch._dynamo",  # imported by torch's first optimiser, and by bert: 1.3 s, 80 MB
    # Ours: else each submission would import them, for 5 to 10 ms.
    "coursekit.growing": "coursekit.growing",
    "coursekit.assistants": "coursekit.assistants",
    "coursekit.toy_models": "coursekit.toy_models",
    "coursekit.miniature": "coursekit.miniature",
    "coursekit.tags_and_answers": "coursekit.tags_and_answers",
    "scipy.stats": "scipy.stats",  # 1 to 2 s
    "application_runs": "coursekit.application_runs",  # with pandas and scipy.stats: 2 to 3 s
    "coursekit.project": "coursekit.project.training",  # with the small models and what they import: 1.5 s
    "coursekit.project.testing": "coursekit.project.testing",
    "coursekit.project.training": "torch._dynamo",  # its optimiser is in the module
}
c.Autograder.answers = ["coursekit.planted"]
# What students get beside notebooks, answer keys, packages and data.
c.Autograder.student_files = [
    "autograder/__init__.py",
    "autograder/py.typed",
    "autograder/checks",
    "constraints.txt",
    "requirements-models.txt",
    "tools/bootstrap.py",
    "tools/jupyterlab",
    "docs/students.md",
    "docs/glossary.md",
    "docs/book/references.md",
    "docs/bugs",  # linked after the checks
    *(
        f"docs/images/student_{name}.png"
        for name in ("wrong", "hint", "right", "validate_wrong", "submit", "dark")
    ),
    "LICENSE",
    "LICENSE-CONTENT",
    "CITATION.cff",
]
c.Autograder.student_overlay = "tools/student"
c.Autograder.sentence_encoder = "coursekit.sentence_vectors:encode"  # groups written answers by what they say

# What a submission may use; the other limits and their defaults stand in autograder/jail/inside/limits.py.
c.Jail.cell_seconds = 60
c.Jail.notebook_seconds = 300

# Validate runs a notebook on the student's machine. Its longest cell takes 20 s on a quiet one and is held below 60 s
# by a test; nbgrader's own limit of 30 s would stop it on a slow one.
c.Execute.timeout = 180  # seconds a cell

try:
    from autograder.nbgrader_plugin import configure
except ModuleNotFoundError as error:  # a student's installation has only autograder.checks
    if error.name not in ("autograder", "autograder.nbgrader_plugin"):
        raise
else:
    configure(c)
