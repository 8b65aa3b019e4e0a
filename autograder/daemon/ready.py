"""What libraries do when they are first used, done ahead: to import this module is to do it."""

import nbformat
import sqlalchemy
from nbformat import v4
from nbgrader import api
from sqlalchemy.orm import configure_mappers

nbformat.validate(v4.new_notebook(cells=[v4.new_code_cell(), v4.new_markdown_cell()]))
configure_mappers()
_statements = sqlalchemy.create_engine("sqlite://")
api.Base.metadata.create_all(_statements)
_statements.dispose()
