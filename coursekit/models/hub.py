"""The Hugging Face hub: which of its models are on this machine, and whether it can be reached."""

import os
import re
import threading
from functools import cache
from pathlib import Path

from safetensors import SafetensorError, safe_open

from coursekit.models.catalogue import Asked
from coursekit.packaged import digest

PATIENCE = 1.5
"""Seconds to wait for the hub, once per session."""

WEIGHTS, CONFIG = "model.safetensors", "config.json"
PROBE = f"/google-bert/bert-base-uncased/resolve/main/{CONFIG}"
"""The file by which `reachable` finds out whether the hub answers."""
OPTIONAL = ("generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


class DownloadFailed(RuntimeError):
    """The hub could be reached, but the model could not be downloaded."""


def cached_folder(asked: Asked) -> Path | None:
    """The folder of the local Hugging Face cache that contains the complete model; None if there is none."""
    from huggingface_hub import try_to_load_from_cache  # start-up: packaged models need no hub

    for repository in asked.hub:
        weights = try_to_load_from_cache(repository, WEIGHTS)
        if isinstance(weights, str):  # else None, or a mark that says that the hub has no such file
            folder = Path(weights).parent
            if all((folder / name).is_file() for name in (CONFIG, *asked.words)):
                return folder
    return None


def download(asked: Asked, again: bool = False) -> Path:
    """Download the model to the local Hugging Face cache, with progress bars; `again` also downloads existing files.

    Raises DownloadFailed, in one sentence.
    """
    from huggingface_hub import snapshot_download  # start-up: as above

    wanted = [WEIGHTS, CONFIG, *asked.words, *OPTIONAL]
    try:
        folder = Path(snapshot_download(asked.hub[0], allow_patterns=wanted, force_download=again))
    except Exception as error:  # any error of a network
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DownloadFailed(f"{asked.name} could not be fetched from the hub ({first}).") from error
    if not (folder / WEIGHTS).is_file():
        raise DownloadFailed(f"{asked.hub[0]} has no file {WEIGHTS}.")
    return folder


def intact(folder: Path) -> bool:
    """Whether the weights are those that the hub sent; the cache names a large file by its sha256 (0.5 s, once per session)."""
    weights = (folder / WEIGHTS).resolve()
    named = re.fullmatch("[0-9a-f]{64}", weights.name)
    return digest(weights) == weights.name if named else _opens(weights)


def _opens(weights: Path) -> bool:
    """Whether a file can be read: its header is complete, and its length is the one that the header states."""
    try:
        with safe_open(weights, framework="pt"):
            return True
    except SafetensorError:
        return False


def offline() -> bool:
    """Whether the hub must not be used, because HF_HUB_OFFLINE is set now or was set when this session began."""
    from huggingface_hub import is_offline_mode  # start-up: as above

    now = os.environ.get("HF_HUB_OFFLINE", "").strip().upper() in {"1", "ON", "YES", "TRUE"}
    return now or is_offline_mode()


def reachable() -> bool:
    """Whether the hub may be used and answers. The first call may take PATIENCE seconds; later calls take no time."""
    return not offline() and _answers()


@cache
def _answers() -> bool:
    """Runs in a thread, because looking up a name may take longer than any timeout that can be set."""
    heard = []
    asking = threading.Thread(target=lambda: heard.append(_ask()), daemon=True)
    asking.start()
    asking.join(PATIENCE)
    return heard == [True]


def _ask() -> bool:
    from huggingface_hub import constants, get_session  # start-up: as above

    try:
        return get_session().head(constants.ENDPOINT + PROBE, timeout=PATIENCE).status_code < 400
    except Exception:  # no network, no name, no certificate, a proxy's refusal
        return False
