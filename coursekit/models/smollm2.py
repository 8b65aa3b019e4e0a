"""SmolLM2 from the file in its package: converted once by transformers, then stored as float32 safetensors (538 MB).

A conversion is written to a separate folder, which is renamed when it is complete, so a reader finds either the complete
conversion or none. Two processes that convert at the same time do the work twice without harm.
"""

import contextlib
import errno
import json
import os
import shutil
import time
from pathlib import Path
from uuid import uuid4

import platformdirs
from safetensors import SafetensorError
from tokenizers import pre_tokenizers
from transformers import LlamaConfig, PreTrainedModel, PreTrainedTokenizerFast

from coursekit.models.catalogue import SMOLLM2, Head
from coursekit.models.reading import quiet, read_model
from coursekit.packaged import digest

FILE, SHA256 = next(iter(SMOLLM2.package.sha256.items()))
LAYOUT = 1
"""Incremented when the content of a conversion changes, so that older conversions are replaced."""
SIZE = 550_000_000
CONTEXT = 8192
"""Tokens that a text may have (transformers leaves the file's own number out)."""
WEIGHTS, DIGESTS = "model.safetensors", "digests.json"
UNFINISHED = ".unfinished-"
ABANDONED = 3600
"""Seconds after which an unfinished folder belongs to a process that was killed."""


def load(head: Head, attentions: bool) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Model and tokeniser from a conversion (1 s), which is made now if there is none (10 to 20 s)."""
    folder = find_conversion() or convert()
    if folder is None:
        return read_packaged_model(head, attentions), read_packaged_tokenizer()
    return read_model(folder, head, attentions), PreTrainedTokenizerFast.from_pretrained(folder)


def tokenizer() -> PreTrainedTokenizerFast:
    """Only the tokeniser: from a conversion, otherwise from the packaged file (0.3 s)."""
    folder = find_conversion()
    return PreTrainedTokenizerFast.from_pretrained(folder) if folder else read_packaged_tokenizer()


def packaged_config() -> LlamaConfig:
    """The configuration in the packaged file. Reading it from there takes 4 s, because transformers parses the whole vocabulary first."""
    return LlamaConfig(
        vocab_size=49_152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=CONTEXT,
        rms_norm_eps=9.999999747378752e-06,  # 1e-5 in float32
        rope_parameters={"rope_type": "default", "rope_theta": 100_000.0},
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
        unk_token_id=0,
        tie_word_embeddings=True,
    )


def read_packaged_model(head: Head, attentions: bool) -> PreTrainedModel:
    """The model of the packaged file."""
    return read_model(SMOLLM2.package.folder(), head, attentions, FILE, packaged_config())


def read_packaged_tokenizer() -> PreTrainedTokenizerFast:
    """The tokeniser of the packaged file."""
    tokenizer = PreTrainedTokenizerFast.from_pretrained(
        SMOLLM2.package.folder(), gguf_file=FILE, model_max_length=CONTEXT
    )
    # The file names its rule "smollm": each digit is split off first. transformers does not know it, and would split the
    # spaces and line breaks before a digit in another way than SmolLM2 was trained with.
    backend = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    backend.pre_tokenizer = pre_tokenizers.Sequence([digits, backend.pre_tokenizer])
    return tokenizer


def cache_folder() -> Path:
    """The folder of conversions: WORDS_IN_CONTEXT_CACHE, otherwise the user's cache folder."""
    chosen = os.environ.get("WORDS_IN_CONTEXT_CACHE")
    return Path(chosen or platformdirs.user_cache_dir("words-in-context"))


def conversion_folder() -> Path:
    """The folder for the conversion of the published file, whether it exists or not."""
    return cache_folder() / f"{SMOLLM2.name}-{SHA256[:12]}-{LAYOUT}"


def find_conversion() -> Path | None:
    """The folder of a complete and undamaged conversion; None if there is none. A damaged conversion is reported in a sentence."""
    folder = conversion_folder()
    if not folder.is_dir():
        return None
    damaged = _find_damage(folder)
    if damaged is None:
        return folder
    print(f"{folder / damaged} is damaged, so the model is converted again.")
    return None


def convert() -> Path | None:
    """Write a conversion where the next session finds it. Prints a sentence and returns None if that is not possible.

    Raises PackageUnusable if the packaged file is not the published file.
    """
    SMOLLM2.package.folder()
    target = conversion_folder()
    aside = target.with_name(f"{UNFINISHED}{uuid4().hex}")
    print(f"Unpacking {SMOLLM2.name}: 10 to 20 seconds.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep(target.parent)
        if shutil.disk_usage(target.parent).free < SIZE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        aside.mkdir()
        _write(aside)
        return _move(aside, target)
    except OSError as error:
        print(
            f"The unpacked model cannot be kept in {target.parent} ({error.strerror or error}), so the next session "
            "unpacks it again. Set WORDS_IN_CONTEXT_CACHE to another folder with 550 MB of free space."
        )
        return None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _find_damage(folder: Path) -> str | None:
    """The name of the first file that differs from the one that was written (0.5 s, once per session)."""
    try:
        written = json.loads((folder / DIGESTS).read_text(encoding="utf-8"))
        missing = WEIGHTS not in written
    except (OSError, ValueError, TypeError):
        missing = True
    if missing:
        return DIGESTS
    for name, expected in written.items():
        try:
            found = digest(folder / name)
        except OSError:
            return name
        if found != expected:
            return name
    return None


def _write(folder: Path) -> None:
    model = read_packaged_model("causal-lm", attentions=False)
    try:
        with quiet():
            model.save_pretrained(folder)
    except SafetensorError as error:  # the disk is full, or the like
        raise OSError(str(error)) from error
    (folder / WEIGHTS).chmod(0o644)  # safetensors writes for the user alone, and a class may share the folder
    read_packaged_tokenizer().save_pretrained(folder)
    digests = {path.name: digest(path) for path in sorted(folder.iterdir())}
    (folder / DIGESTS).write_text(json.dumps(digests, indent=1), encoding="utf-8")


def _move(aside: Path, target: Path) -> Path:
    """Move a complete folder to its final location. A damaged folder there is replaced; a complete folder of another process is kept."""
    try:
        aside.rename(target)
    except OSError:
        if target.is_dir() and _find_damage(target) is None:
            return target
        with contextlib.suppress(FileNotFoundError):  # another process has already removed it
            damaged = target.rename(target.with_name(f"{UNFINISHED}{uuid4().hex}"))
            shutil.rmtree(damaged, ignore_errors=True)
        aside.rename(target)
    return target


def _sweep(folder: Path) -> None:
    """Remove the remains of killed conversions."""
    for unfinished in folder.glob(f"{UNFINISHED}*"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > ABANDONED:
                shutil.rmtree(unfinished, ignore_errors=True)
