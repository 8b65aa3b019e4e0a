"""How many decisions grade the written answers of a class? `python -m bench.written` measures it; README.md says on what."""
