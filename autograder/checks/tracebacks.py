"""What an error of a notebook's code means: still a stub, a name that is not there, or a mistake."""

import traceback
from types import FrameType, TracebackType

NOT_RUN = "The cell that defines this name was not run, or it stopped with an error: look there first."


def stub_name(error: NotImplementedError) -> str | None:
    """The name of the function that still is a stub ("" if it has none), or None if the error means something else.

    Of a method it is that of the class. torch raises the same error for operations that a type or a device lacks; a stub raises it in the notebook, with no words.
    """
    trace = error.__traceback__
    frames = traceback.extract_tb(trace)
    if trace is None or not frames:
        return ""
    if message(error) and not (frames[-1].line or "").startswith("raise NotImplementedError"):
        return None
    name = last_frame(trace).f_code.co_qualname.rpartition("<locals>.")[2].partition(".")[0]
    return name[:100] if name.isidentifier() else ""


def student_traceback(error: BaseException) -> str:
    """The error as the student should see it: from the first frame of the notebook on, without ours."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [i for i, frame in enumerate(frames) if in_notebook(frame.filename)]
    # The first notebook frame is the lambda of the check cell, which tells nothing; skip it if there is more.
    # If it is the only one, no code of the student's is on the way to the error: only the error is shown.
    alone = len(own) == 1 and frames[own[0]].name == "<lambda>"
    start = own[1] if len(own) > 1 else own[0] if own and not alone else len(frames)
    line = f"{type(error).__name__}: {message(error)}"
    if type(error) is NameError and own == [len(frames) - 1]:  # the check itself asks for what is not there
        return f"{line[:1800]}\n{NOT_RUN}"
    shown = [f"  in {frame.name}, line {frame.lineno}: {frame.line}" for frame in frames[start:]]
    return "\n".join([*shown[-6:], line])[:2000]


def message(error: BaseException) -> str:
    """The text of an error; a sentence in its place when the error's own `__str__` fails."""
    try:
        return str(error)
    except Exception as broken:
        return f"(its message cannot be shown: {type(broken).__name__})"


def in_notebook(filename: str) -> bool:
    """Whether this is the name that ipykernel, IPython or the grading server gives to the code of a cell."""
    return "ipykernel_" in filename or filename.startswith(("<ipython-input", "<cell"))


def last_frame(trace: TracebackType) -> FrameType:
    """Where the error was raised."""
    *_, (frame, _) = traceback.walk_tb(trace)
    return frame
