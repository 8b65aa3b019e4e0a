"""What notebooks of other people's courses are used to, one habit after the other: an answer, and a test of it.

The tests are of nbgrader's kind. `test_habits` runs them under nbgrader and under ours.
"""

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

HABITS: dict[str, tuple[str, str]] = {
    # What IPython keeps of earlier cells
    "in": ("z = 7  # found again", "assert any('found again' in cell for cell in In)"),
    "in-last": ("z = 8", "assert In[-2].endswith('z = 8') and _i.endswith('z = 8')"),
    "ih": (
        "first = 1\nsecond = 2",
        "assert _ih[-2].splitlines()[-2:] == ['second = 2', ''] or 'second = 2' in _ih[-2]",
    ),
    "number": (
        "n = get_ipython().execution_count",
        "assert In[n - 1].startswith('n = ') and len(In) == n + 1",
    ),
    "underscore": ("21 * 2", "assert _ == 42"),
    "underscores": ("first = 1\nfirst + 2", "assert (__, _) == (42, 3)"),
    "out": ("'kept'", "assert 'kept' in Out.values() and Out[max(Out)] == 'kept' and _oh is Out"),
    "out-number": ("5 + 5", "assert eval(f'_{max(Out)}') == 10"),
    "quiet": ("99;", "assert _ != 99"),
    "history": ("x = 1", "%history -n 1"),
    "magic-history": ("x = 1", "kept = %history -p 1-2"),
    "recorded": (
        "pieces = [text for _, _, text in get_ipython().history_manager.get_range()]",
        "assert any('found again' in piece for piece in pieces)",
    ),
    # The shell
    "get-ipython": (
        "shell = get_ipython()",
        "assert shell.user_ns['shell'] is shell and 'z' in shell.user_ns",
    ),
    "run-line-magic": ("get_ipython().run_line_magic('pwd', '')", "assert isinstance(_, str)"),
    "class": ("kind = type(get_ipython()).__name__", "assert kind == 'ZMQInteractiveShell'"),
    "ipkernelapp": ("inside = 'IPKernelApp' in get_ipython().config", "assert inside"),
    "kernel": ("kernel = get_ipython().kernel", "assert kernel"),
    "who": ("x = 1", "%who"),
    "whos": ("x = 1", "%whos int"),
    "time": ("%time q = 1", "assert q == 1"),
    "time-cell": ("%%time\nr = 2", "assert r == 2"),
    "timeit": ("t = %timeit -n 1 -r 1 -o -q sum(range(10))", "assert t.best >= 0"),
    "capture": ("%%capture kept\nprint('caught')", "assert kept.stdout == 'caught\\n'"),
    "matplotlib-inline": ("x = 1", "%matplotlib inline"),
    "retina": ("x = 1", "%config InlineBackend.figure_format = 'retina'"),
    "autoreload": ("x = 1", "%load_ext autoreload\n%autoreload 2"),
    "autosave": ("x = 1", "%autosave 0"),
    "precision": ("x = 1", "%precision 3"),
    "env": ("%env COLOUR=blue\nimport os", "assert os.environ['COLOUR'] == 'blue'"),
    "pip": ("x = 1", "%pip list -q\n!pip --version"),
    "question": ("x = 1", "len?"),
    "alias": ("x = 1", "%alias say echo %s\n%say hello"),
    "macro": ("x = 1", "%macro -q again 1"),
    "html": ("x = 1", "%%html\n<b>bold</b>"),
    "javascript": ("x = 1", "%%javascript\nconsole.log(1)"),
    "latex": ("x = 1", "%%latex\n$x$"),
    "markdown": ("x = 1", "%%markdown\n*x*"),
    "unknown-magic": ("x = 1", "%no_such_magic"),
    "reset-selective": ("gone = 1\n%reset_selective -f ^gone$", "assert 'gone' not in globals()"),
    # Other programs
    "writefile": (
        "%%writefile habit_one.py\ndef one():\n    return 1",
        "import habit_one\nassert habit_one.one() == 1",
    ),
    "writefile-again": (
        "%%writefile habit_one.py\ndef one():\n    return 'another one'",
        "import importlib\nassert importlib.reload(habit_one).one() == 'another one'",
    ),
    "bash": ("%%bash\necho from bash > said.txt", "assert open('said.txt').read() == 'from bash\\n'"),
    "bash-out": ("%%bash --out kept\necho kept", "assert kept == 'kept\\n'"),
    "sh": ("x = 1", "%%sh\ntrue"),
    "bash-fails": (
        "try:\n    get_ipython().run_cell_magic('bash', '', 'exit 3')\n    ended = 0\nexcept Exception as error:\n    ended = error.returncode",
        "assert ended == 3",
    ),
    "bash-stderr": ("x = 1", "get_ipython().run_cell_magic('bash', '', 'echo trouble >&2')"),
    "bang": ("!echo loud > loud.txt", "assert open('loud.txt').read() == 'loud\\n'"),
    "bang-list": ("lines = !printf 'a\\nb\\n'", "assert list(lines) == ['a', 'b'] and lines.n == 'a\\nb'"),
    "bang-variable": (
        "word = 'spoken'\n!echo {word} $word > word.txt",
        "assert open('word.txt').read() == 'spoken spoken\\n'",
    ),
    "bang-exit": ("!exit 4", "assert _exit_code == 4"),
    "bang-stderr": ("x = 1", "!echo trouble >&2"),
    "sx": ("got = %sx echo there", "assert got == ['there']"),
    "run": (
        "from pathlib import Path\nPath('script.py').write_text('made = __name__')\n%run script.py",
        "assert made == '__main__'",
    ),
    "run-arguments": (
        "Path('arguments.py').write_text('import sys\\nargued = sys.argv[1:]')\n%run arguments.py 3 4",
        "assert argued == ['3', '4']",
    ),
    "run-helper": ("%run helper.py", "assert helped(2) == 4"),
    "load": ("x = 1", "%load helper.py"),
    "pycat": ("x = 1", "%pycat helper.py"),
    "python-cell": (
        "%%python\nopen('by_python.txt', 'w').write('x')",
        "assert Path('by_python.txt').exists()",
    ),
    "script": ("x = 1", "%%script false --no-raise-error\nprint(1)"),
    "subprocess": (
        "import subprocess, sys\nsaid = subprocess.run([sys.executable, 'helper.py'], capture_output=True, text=True)",
        "assert said.returncode == 0 and said.stdout == 'helper runs\\n'",
    ),
    "cd": (
        "import os\nos.makedirs('below', exist_ok=True)\nhere = os.getcwd()\n%cd -q below",
        "assert os.path.basename(os.getcwd()) == 'below'",
    ),
    "cd-back": ("%cd -q ..", "assert os.getcwd() == here"),
    # Modules and files of the folder
    "import-helper": ("from helper import helped", "assert helped(3) == 6"),
    "package": ("from parts.whole import whole", "assert whole() == 'whole of parts'"),
    "relative": (
        "try:\n    from .helper import helped\n    how = 'found'\nexcept ImportError:\n    how = 'no package'",
        "assert how == 'no package'",
    ),
    "read-table": ("rows = open('table.csv').read().splitlines()", "assert rows == ['x,y', '1,2']"),
    "own-notebook": (
        "import glob\nn = glob.glob('*.ipynb')",
        "assert len(n) == 1 and n[0] == 'habits.ipynb'",
    ),
    "own-notebook-read": (
        "import json\nown = json.load(open('habits.ipynb'))",
        "texts = [''.join(cell['source']) for cell in own['cells']]\nassert any('# found again' in text for text in texts)",
    ),
    "own-notebook-nbformat": (
        "import nbformat\nown = nbformat.read('habits.ipynb', 4)",
        "assert own.cells[0].cell_type == 'markdown'",
    ),
    "folder-name": ("name = os.path.basename(os.getcwd())", "assert name == 'habits'"),
    "listed": (
        "names = sorted(os.listdir())",
        "assert {'helper.py', 'parts', 'table.csv', 'habits.ipynb'} <= {*names}",
    ),
    "write": ("open('mine.txt', 'w').write('mine')", "assert open('mine.txt').read() == 'mine'"),
    "sqlite": (
        "import sqlite3\nbase = sqlite3.connect('base.db')\nbase.execute('create table t (x int)')\n"
        "base.execute('insert into t values (3)')\nbase.commit()",
        "assert sqlite3.connect('base.db').execute('select x from t').fetchall() == [(3,)]",
    ),
    "sqlite-memory": (
        "memory = sqlite3.connect(':memory:')",
        "assert memory.execute('select 1').fetchone() == (1,)",
    ),
    "temporary": (
        "import tempfile\nwith tempfile.NamedTemporaryFile('w+') as file:\n    file.write('x'); file.flush()\n    size = os.path.getsize(file.name)",
        "assert size == 1",
    ),
    "pickle": (
        "import pickle\nclass Pair:\n    def __init__(self, a):\n        self.a = a",
        "assert pickle.loads(pickle.dumps(Pair(3))).a == 3",
    ),
    # Asking and ending
    "input": (
        "try:\n    input('Your name? ')\n    asked = 'answered'\nexcept Exception as error:\n    asked = type(error).__name__",
        "assert asked != 'answered'",
    ),
    "input-stops": ("asked = 'before'\nasked = input()", "assert asked == 'before'"),
    "input-patched": (
        "import builtins\nbuiltins.input, theirs = (lambda *a: 'typed'), builtins.input\ntyped = input('?')\nbuiltins.input = theirs",
        "assert typed == 'typed'",
    ),
    "mock-input": (
        "def greet():\n    return 'Hello ' + input()",
        "from unittest.mock import patch\nwith patch('builtins.input', return_value='Ada'):\n    assert greet() == 'Hello Ada'",
    ),
    "sys-exit": ("import sys\nstill = 1\nsys.exit()", "assert still == 1"),
    "stdin": ("text = sys.stdin.readline()", "assert text == ''"),
    "argv": ("arguments = sys.argv", "assert len(arguments) > 1"),
    "argparse": (
        "import argparse\nparsed = argparse.ArgumentParser().parse_args([])",
        "assert parsed == argparse.Namespace()",
    ),
    # Output
    "redirect": (
        "import io, contextlib\nkept = io.StringIO()\nwith contextlib.redirect_stdout(kept):\n    print('inside')",
        "assert kept.getvalue() == 'inside\\n'",
    ),
    "stdout-patched": (
        "before = sys.stdout\nsys.stdout = io.StringIO()\nprint('x')\ncaught = sys.stdout.getvalue()\nsys.stdout = before",
        "assert caught == 'x\\n'",
    ),
    "stdout-flush": ("sys.stdout.write('x'); sys.stdout.flush()", "assert not sys.stdout.isatty()"),
    "stderr": ("x = 1", "print('trouble', file=sys.stderr)"),
    "display": (
        "x = 1",
        "display(1, 'two')\nfrom IPython.display import HTML, Image, Markdown, clear_output, display\ndisplay(HTML('<b>x</b>'))\nclear_output()",
    ),
    "display-id": ("handle = display('x', display_id=True)\nhandle.update('y')", "assert handle is not None"),
    "capture-output": (
        "from IPython.utils.capture import capture_output\nwith capture_output() as kept:\n    print('x'); display(2)",
        "assert kept.stdout.startswith('x') and len(kept.outputs) == 1",
    ),
    "logging": ("import logging", "logging.getLogger('habit').info('quiet')"),
    "logging-warning": ("x = 1", "logging.getLogger('habit').warning('loud')"),
    "tqdm": ("x = 1", "from tqdm import tqdm\nfor _n in tqdm(range(2)): pass"),
    "tqdm-auto": ("x = 1", "from tqdm.auto import tqdm\nfor _n in tqdm(range(2)): pass"),
    "partial": ("x = 1", "0.5"),
    "partial-variable": ("x = 1", "earned = 0.25\nearned"),
    "printed-number": ("x = 1", "print(0.5)"),
    "none": ("x = 1", "None"),
    "string-value": ("x = 1", "'0.5'"),
    "numpy-value": ("x = 1", "import numpy as np\nnp.float64(0.5)"),
    "bool-value": ("x = 1", "False"),
    # Warnings
    "warning": ("x = 1", "import warnings\nwarnings.warn('careful')"),
    "warning-ignored": ("warnings.filterwarnings('ignore')", "warnings.warn('careful')"),
    "warning-reset": ("warnings.filters.pop(0)", "warnings.warn('careful again')"),
    "warning-caught": (
        "def warn():\n    warnings.warn('careful', DeprecationWarning)",
        "with warnings.catch_warnings(record=True) as kept:\n    warnings.simplefilter('always')\n    warn()\nassert len(kept) == 1",
    ),
    "warning-once": ("def warn():\n    warnings.warn('only once')\nwarn()", "warn()"),
    "deprecation": ("x = 1", "warnings.warn('old', DeprecationWarning)"),
    "deprecation-library": ("x = 1", "import unittest\nunittest.makeSuite(unittest.TestCase)"),
    "syntax-warning": ("x = 1", "assert (x is 1)"),
    "warnings-of-numpy": ("x = 1", "np.log(np.array([0.0]))"),
    # Random numbers
    "seed": ("import random\nrandom.seed(1)\ndrawn = random.random()", "assert drawn == 0.13436424411240122"),
    "numpy-seed": ("np.random.seed(0)\ndrawn = np.random.rand()", "assert drawn == 0.5488135039273248"),
    "generator": ("drawn = np.random.default_rng(0).random()", "assert drawn == 0.6369616873214543"),
    "seed-of-test": (
        "def draw():\n    return random.random()",
        "random.seed(1)\nassert draw() == 0.13436424411240122",
    ),
    # matplotlib
    "figure-closed": ("import matplotlib.pyplot as plt\nplt.plot([1, 2])", "assert plt.get_fignums() == []"),
    "axes-kept": (
        "figure, axes = plt.subplots()\naxes.plot([1, 2])",
        "assert len(axes.lines) == 1 and axes.get_figure() is figure",
    ),
    "gca": ("plt.plot([1, 2], label='x')", "assert len(plt.gca().lines) == 0"),
    "show": ("plt.plot([3])\nplt.show()\nshown = plt.get_fignums()", "assert shown == []"),
    "savefig": ("plt.plot([1]); plt.savefig('picture.png')", "assert os.path.getsize('picture.png') > 100"),
    "close": ("plt.plot([1]); plt.close('all')", "assert plt.get_fignums() == []"),
    "backend": ("import matplotlib", "assert 'inline' in matplotlib.get_backend()"),
    "rcparams": (
        "plt.rcParams['figure.figsize'] = (3, 2)",
        "assert list(plt.figure().get_size_inches()) == [3, 2]",
    ),
    "default-size": ("plt.rcdefaults()", "assert plt.rcParams['figure.figsize'] == [6.4, 4.8]"),
    "interactive": ("on = plt.isinteractive()", "assert on"),
    # Looking at code
    "getsource": (
        "import inspect\ndef twice(n):\n    return 2 * n",
        "assert '2 * n' in inspect.getsource(twice)",
    ),
    "getsource-of-test": (
        "def thrice(n):\n    return sum([n] * 3)",
        "assert 'sum(' in inspect.getsource(thrice) and inspect.getsourcelines(thrice)[1] == 1",
    ),
    "getfile": ("file = inspect.getfile(twice)", "assert isinstance(file, str)"),
    "main": ("name = __name__", "assert name == '__main__' and sys.modules['__main__'].twice is twice"),
    "file": ("there = '__file__' in globals()", "assert not there"),
    "doctest": (
        "import doctest\ndef half(n):\n    '''\n    >>> half(4)\n    2.0\n    '''\n    return n / 2",
        "assert doctest.testmod().failed == 0 and doctest.testmod().attempted == 1",
    ),
    "run-docstring": ("x = 1", "doctest.run_docstring_examples(half, globals())"),
    "unittest": (
        "class TestHalf(unittest.TestCase):\n    def test_half(self):\n        self.assertEqual(half(2), 1)",
        "suite = unittest.defaultTestLoader.loadTestsFromTestCase(TestHalf)\n"
        "assert unittest.TextTestRunner(stream=io.StringIO()).run(suite).wasSuccessful()",
    ),
    "unittest-main": ("x = 1", "unittest.main(argv=[''], exit=False)"),
    "assert-raises": (
        "def bad():\n    raise KeyError('x')",
        "try:\n    bad()\nexcept KeyError as error:\n    assert error.args == ('x',)\nelse:\n    assert False",
    ),
    "numpy-testing": ("array = np.arange(3.0)", "np.testing.assert_allclose(array, [0, 1, 2])"),
    "ellipsis": ("x = 1", "..."),
    "not-implemented": ("x = 1", "raise NotImplementedError()"),
    "future": (
        "from __future__ import annotations\ndef typed(x: NoSuchType) -> Neither:\n    return x",
        "assert typed.__annotations__['x'] == 'NoSuchType'",
    ),
    "delete": ("gone = 1\ndel gone", "assert 'gone' not in dir()"),
    "overwritten": ("sum = lambda values: 0", "assert sum([1]) == 0\ndel sum"),
    "prompts": ("x = 1", ">>> pasted = 1\n>>> pasted"),
    "indented": ("    indented = 5", "assert indented == 5"),
    "print-statement": ("x = 1", "x = 1\nprint 'old'"),
    # At the same time
    "get-event-loop": ("x = 1", "import asyncio\nassert asyncio.get_event_loop().is_running()"),
    "create-task": (
        "async def soon():\n    return 4\ntask = asyncio.create_task(soon())",
        "assert await task == 4",
    ),
    "gather": ("async def same(n):\n    return n", "assert await asyncio.gather(same(1), same(2)) == [1, 2]"),
    "await": ("import asyncio\nawait asyncio.sleep(0)\nslept = True", "assert slept"),
    "await-test": ("async def later():\n    return 3", "assert await later() == 3"),
    "asyncio-run": (
        "try:\n    asyncio.run(later())\n    ran = True\nexcept RuntimeError:\n    ran = False",
        "assert not ran",
    ),
    "running-loop": (
        "try:\n    asyncio.get_running_loop()\n    runs = True\nexcept RuntimeError:\n    runs = False",
        "assert runs",
    ),
    "task": ("task = asyncio.ensure_future(later())\nawait task", "assert task.result() == 3"),
    "thread": (
        "import threading\ndone = []\nthread = threading.Thread(target=done.append, args=[1])\nthread.start()\nthread.join()",
        "assert done == [1]",
    ),
    "thread-pool": (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(2) as pool:\n    squares = list(pool.map(lambda n: n * n, range(3)))",
        "assert squares == [0, 1, 4]",
    ),
    "processes": (
        "from multiprocessing import Pool\ndef square(n):\n    return n * n\nwith Pool(2) as pool:\n    squares = pool.map(square, range(3))",
        "assert squares == [0, 1, 4]",
    ),
    "alarm": (
        "import signal, time\ndef ring(*how):\n    raise TimeoutError\nsignal.signal(signal.SIGALRM, ring)\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\n"
        "try:\n    time.sleep(2)\nexcept TimeoutError:\n    rang = True",
        "assert rang",
    ),
    # Surroundings
    "nbgrader-execution": ("how = os.environ.get('NBGRADER_EXECUTION')", "assert how == 'autograde'"),
    "home": ("home = os.path.expanduser('~')", "assert os.path.isdir(home)"),
    "utf-8": ("open('grüße.txt', 'w').write('ü')", "assert open('grüße.txt').read() == 'ü'"),
    "time-zone": ("import time", "assert time.tzname"),
    "recursion": ("import sys\nlimit = sys.getrecursionlimit()", "assert limit >= 1000"),
    "recursion-error": (
        "def deep(n):\n    return deep(n + 1)\ntry:\n    deep(0)\nexcept RecursionError:\n    deepest = True",
        "assert deepest",
    ),
    "python-program": ("said = !python helper.py", "assert said == ['helper runs']"),
    "system": (
        "get_ipython().system('echo x > system.txt')",
        "assert get_ipython().getoutput('cat system.txt') == ['x']",
    ),
    "import-subprocess": ("import os, subprocess", "assert subprocess.call('true') == 0"),
    "append": (
        "%%writefile -a habit_one.py\n# the end",
        "assert open('habit_one.py').read().endswith('# the end\\n')",
    ),
    "exec": (
        "exec(open('helper.py').read(), {'__name__': 'x'})\nimport runpy",
        "assert runpy.run_path('helper.py')['helped'](1) == 2",
    ),
    "run-in-place": (
        "given = 3\nPath('in_place.py').write_text('taken = given + 1')\n%run -i in_place.py",
        "assert taken == 4",
    ),
    "save": (
        "%save -f saved.py 1",
        "assert 'found again' in open('saved.py').read() or Path('saved.py').exists()",
    ),
    "rerun": ("x = 1", "%rerun -l 1"),
    "register-magic": (
        "from IPython.core.magic import register_cell_magic, register_line_magic\n@register_line_magic\ndef shout(line):\n    return line.upper()",
        "assert get_ipython().run_line_magic('shout', 'a') == 'A'",
    ),
    "events": (
        "ran = []\ndef after(result):\n    ran.append(1)\nget_ipython().events.register('post_run_cell', after)",
        "assert ran\nget_ipython().events.unregister('post_run_cell', after)",
    ),
    "xmode": ("x = 1", "%xmode Minimal"),
    "timeit-cell": ("x = 1", "%%timeit -n 1 -r 1\nsum(range(3))"),
    "exit-in-test": ("x = 1", "sys.exit()"),
    "division": ("x = 1", "1 / 0"),
    "user": ("import getpass\nname = getpass.getuser()", "assert name"),
    "buffer": (
        "try:\n    sys.stdout.buffer\n    has = True\nexcept AttributeError:\n    has = False",
        "assert not has",
    ),
    "fileno": ("number = sys.stdout.fileno()", "assert number >= 1"),
    "faulthandler": ("import faulthandler", "faulthandler.enable()"),
    "run-to-stdout": ("x = 1", "subprocess.run(['true'], stdout=sys.stdout)\nNone"),
    "format-exc": (
        "import traceback\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    told = traceback.format_exc()",
        "assert '1 / 0' in told",
    ),
    "process-pool": (
        "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(2) as pool:\n    powers = list(pool.map(pow, [2, 3], [2, 2]))",
        "assert powers == [4, 9]",
    ),
    "joblib": (
        "from joblib import Parallel, delayed",
        "assert Parallel(n_jobs=2)(delayed(pow)(n, 2) for n in range(3)) == [0, 1, 4]",
    ),
    "sympy": (
        "import sympy\nsympy.init_printing()\nx = sympy.Symbol('x')\nx ** 2",
        "assert sympy.diff(x ** 2, x) == 2 * x",
    ),
    "main-module": ("import __main__\nmarked = 1", "assert __main__.marked == 1"),
    "open-patched": (
        "x = 1",
        "with open('table.csv') as table_file:\n    assert table_file.name == 'table.csv'",
    ),
    "tqdm-notebook": ("x = 1", "from tqdm.notebook import tqdm as bar\nfor _n in bar(range(2)): pass"),
    "matplotlib-notebook": ("x = 1", "%matplotlib notebook"),
    "matplotlib-back": (
        "%matplotlib inline",
        "import matplotlib\nassert 'inline' in matplotlib.get_backend()",
    ),
    "environment": (
        "os.environ['SEEN'] = 'yes'",
        "assert subprocess.run('echo $SEEN', shell=True, capture_output=True).stdout == b'yes\\n'",
    ),
    "widget": ("x = 1", "import ipywidgets\nipywidgets.interact(lambda n: n, n=3)"),
    "pandas": (
        "import pandas as pd\ntable = pd.read_csv('table.csv')\ntable",
        "assert table.shape == (1, 2)",
    ),
    "reset": ("%reset -f", "assert 'helped' not in globals()"),
}
"""{name of the cells: (the answer, the test)}. Not `exit()`, which ends nbgrader's kernel: nothing can follow."""

SETTINGS = """c = get_config()
c.CourseDirectory.course_id = "plain"
c.Execute.timeout = 60
"""
BESIDE = {
    "helper.py": "def helped(n):\n    return 2 * n\n\n\nif __name__ == '__main__':\n    print('helper runs')\n",
    "parts/__init__.py": "",
    "parts/name.py": "NAME = 'parts'\n",
    "parts/whole.py": "from .name import NAME\n\n\ndef whole():\n    return f'whole of {NAME}'\n",
    "table.csv": "x,y\n1,2\n",
}
"""Files that are handed out with the notebook."""


def notebook() -> NotebookNode:
    """All habits in one notebook. An answer has no marks of a solution: the release has a stub in its place."""
    usual = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    cells = [new_markdown_cell("# Habits")]
    for name, (answer, test) in HABITS.items():
        of_answer = usual | {"solution": True, "grade_id": f"{name}-answer"}
        of_test = usual | {"grade": True, "locked": True, "points": 1, "grade_id": name}
        cells.append(new_code_cell(answer, metadata={"nbgrader": of_answer}))
        cells.append(new_code_cell(test, metadata={"nbgrader": of_test}))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write_habits(course: Path) -> None:
    """A course of this one assignment, in which ada has handed in all answers."""
    for place in ("source/habits", "submitted/ada/habits"):
        (course / place).mkdir(parents=True)
        nbformat.write(notebook(), course / place / "habits.ipynb")
    for name, text in BESIDE.items():
        (course / "source" / "habits" / name).parent.mkdir(exist_ok=True)
        (course / "source" / "habits" / name).write_text(text)
    (course / "nbgrader_config.py").write_text(SETTINGS)
