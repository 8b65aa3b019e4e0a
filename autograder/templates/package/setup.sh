#!/bin/bash
# Gradescope runs this once, as root, when the archive is uploaded. It installs what the grading needs and closes what students'
# code must not read. AUTOGRADER_PREFIX takes the place of /autograder elsewhere.
set -eu
prefix=${AUTOGRADER_PREFIX:-/autograder}
source=$prefix/source
python=$prefix/environment/bin/python

missing=()
command -v setpriv > /dev/null || missing+=(util-linux)
if [ ! -x "$python" ]; then
    python3 -m ensurepip --version > /dev/null 2>&1 || missing+=(python3-venv)
fi
if [ ${#missing[@]} -gt 0 ]; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
fi

# The Python and the packages that the course has been tried with, each in its version. uv brings that Python if the image lacks it.
if [ ! -x "$python" ]; then
    python3 -m venv "$prefix/uv"
    "$prefix/uv/bin/pip" install --quiet uv
    export UV_PYTHON_INSTALL_DIR=$prefix/python
    uv=$prefix/uv/bin/uv
    "$uv" venv --python @PYTHON@ "$prefix/environment"
    torch=$(grep '^torch==' "$source/requirements.txt" || true)
    if [ -n "$torch" ]; then # without the libraries for a GPU
        "$uv" pip install --python "$python" --no-deps --index-url https://download.pytorch.org/whl/cpu "$torch"
    fi
    "$uv" pip install --python "$python" --no-deps --requirement "$source/requirements.txt"
fi

mkdir -p "$prefix/results"
chmod -R go+rX "$source"
chmod 0700 "$source" "$prefix/results"
PYTHONPATH=$source/tool:$source/course "$python" -P -c "import autograder.packaging.hosted"
