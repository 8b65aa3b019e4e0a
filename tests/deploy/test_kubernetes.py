"""deploy/kubernetes: the values parse, agree with one another and with the hub on one machine. No chart is installed here."""

import ast
import re

import pytest
import yaml

from tests.conftest import ROOT

FOLDER = ROOT / "deploy" / "kubernetes"
HUB, EXCHANGE, GATEWAY = (
    yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    for name in ("jupyterhub", "ngshare", "dask-gateway")
)
PARTS = {
    "jupyterhub": {"hub", "singleuser", "proxy", "ingress", "cull"},
    "ngshare": {"ngshare", "deployment", "pvc"},
    "dask-gateway": {"gateway", "traefik"},
}


@pytest.mark.parametrize(
    ("values", "parts"), list(zip((HUB, EXCHANGE, GATEWAY), PARTS.values(), strict=True)), ids=PARTS
)
def test_every_part_is_one_that_the_chart_has(values, parts):
    assert values.keys() == parts


def test_the_hub_and_ngshare_share_a_token_and_the_gateway_answers_where_the_hub_expects_it():
    services = HUB["hub"]["services"]
    assert services["ngshare"]["apiToken"] == EXCHANGE["ngshare"]["hub_api_token"]
    assert GATEWAY["gateway"]["prefix"] == "/services/dask-gateway"
    assert HUB["singleuser"]["extraEnv"]["DASK_GATEWAY__ADDRESS"].endswith(GATEWAY["gateway"]["prefix"])
    for role in HUB["hub"]["loadRoles"].values():
        named = {scope.partition("service=")[2] for scope in role["scopes"] if "service=" in scope}
        assert named <= services.keys()


def test_only_the_instructor_may_use_the_gateway():
    """A server's token has the scopes of the role `server` that its owner has, too."""
    roles, gateway = HUB["hub"]["loadRoles"], "access:services!service=dask-gateway"
    assert gateway in roles["server"]["scopes"] and gateway not in roles["user"]["scopes"]
    assert [name for name, role in roles.items() if gateway in role["scopes"] and "users" in role] == [
        "instructor"
    ]
    assert roles["instructor"]["users"] == EXCHANGE["ngshare"]["admins"]


def test_memory_and_idle_time_are_those_of_the_hub_on_one_machine():
    settings = (ROOT / "deploy" / "jupyterhub" / "jupyterhub_config.py").read_text()
    memory = HUB["singleuser"]["memory"]
    assert re.search(r'mem_guarantee = "(\w+)"', settings)[1] == memory["guarantee"]
    assert re.search(r'mem_limit = "(\w+)"', settings)[1] == memory["limit"]
    assert re.search(r"--timeout=(\d+)", settings)[1] == str(HUB["cull"]["timeout"])


def test_the_python_in_the_files_compiles():
    settings = HUB["singleuser"]["extraFiles"]["nbgrader"]["stringData"]
    (script,) = re.findall(r"```python\n(.*?)```", (FOLDER / "README.md").read_text(), re.S)
    for source in (settings, script):
        ast.parse(source)
    assert 'course_id = "words-in-context"' in settings
