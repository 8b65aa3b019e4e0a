"""SmolLM2's GGUF file in the terms of transformers: configuration, weights, tokenizer.

Q4_1 stores 32 neighbouring weights as one scale, one offset and 32 numbers of 4 bits: w = scale · q + offset. What comes
out here are these products in float32, bit for bit what transformers' own (slower) reader makes of the file.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch
from tokenizers import Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from torch import Tensor
from tqdm import tqdm
from transformers import LlamaConfig, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from gguf import GGUFReader

NUMBERS = 134_515_008
SPECIAL = 3
"""How a GGUF file marks the tokens that are not text."""

# llama.cpp's names of the tensors, and those of transformers.
RENAMED = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


class Unpacked(NamedTuple):
    """A model as transformers builds it."""

    config: LlamaConfig
    weights: dict[str, Tensor]
    tokenizer: PreTrainedTokenizerFast


def unpack(path: Path) -> Unpacked:
    """Read the file, with a progress bar: 2 s for its table of contents, 2 s for the weights."""
    from gguf import GGUFReader, dequantize

    bar = tqdm(total=NUMBERS, unit="", unit_scale=True, file=sys.stdout, leave=False, mininterval=0.5)
    with bar:
        bar.set_description("reading the table of contents")
        reader = GGUFReader(path)
        config, tokenizer = _config(reader), _tokenizer(reader)
        bar.set_description("unpacking the weights")
        weights = {}
        for tensor in reader.tensors:
            numbers = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
            weights[_renamed(tensor.name)] = _reorder(tensor.name, numbers, config)
            bar.update(numbers.numel())
    return Unpacked(config, weights, tokenizer)


def unpack_tokenizer(path: Path) -> PreTrainedTokenizerFast:
    """The tokenizer alone (2 s)."""
    from gguf import GGUFReader

    return _tokenizer(GGUFReader(path))


def _renamed(name: str) -> str:
    """blk.7.attn_q.weight → model.layers.7.self_attn.q_proj.weight"""
    *block, part, kind = name.split(".")
    layer = f"model.layers.{block[1]}." if block else ""
    return f"{layer}{RENAMED[part]}.{kind}"


def _reorder(name: str, numbers: Tensor, config: LlamaConfig) -> Tensor:
    """Queries and keys as transformers wants them.

    Rotary positions turn pairs of numbers: llama.cpp keeps the two of a pair side by side, transformers half a head apart.
    """
    heads = {"attn_q": config.num_attention_heads, "attn_k": config.num_key_value_heads}.get(
        name.split(".")[-2]
    )
    if heads is None:
        return numbers
    pairs = numbers.reshape(heads, -1, 2, numbers.shape[-1])  # heads, pairs, 2, inputs
    return pairs.transpose(1, 2).reshape(numbers.shape).contiguous()


def _config(reader: "GGUFReader") -> LlamaConfig:
    def read(key: str):
        return reader.fields[key].contents()

    return LlamaConfig(
        vocab_size=read("llama.vocab_size"),
        hidden_size=read("llama.embedding_length"),
        intermediate_size=read("llama.feed_forward_length"),
        num_hidden_layers=read("llama.block_count"),
        num_attention_heads=read("llama.attention.head_count"),
        num_key_value_heads=read("llama.attention.head_count_kv"),
        max_position_embeddings=read("llama.context_length"),
        rms_norm_eps=read("llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": read("llama.rope.freq_base")},
        bos_token_id=read("tokenizer.ggml.bos_token_id"),
        eos_token_id=read("tokenizer.ggml.eos_token_id"),
        pad_token_id=read("tokenizer.ggml.padding_token_id"),
        tie_word_embeddings=True,  # the file holds no separate output matrix
        architectures=["LlamaForCausalLM"],
        dtype="float32",
    )


def _tokenizer(reader: "GGUFReader") -> PreTrainedTokenizerFast:
    """Byte-level BPE; each digit is a token of its own (what the file calls the pre-tokenizer "smollm")."""
    tokens = reader.fields["tokenizer.ggml.tokens"].contents()
    merges = reader.fields["tokenizer.ggml.merges"].contents()
    kinds = reader.fields["tokenizer.ggml.token_type"].contents()

    def named(role: str) -> str:
        return tokens[reader.fields[f"tokenizer.ggml.{role}_token_id"].contents()]

    pieces = Tokenizer(
        BPE({token: i for i, token in enumerate(tokens)}, [tuple(merge.split(" ")) for merge in merges])
    )
    pieces.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    pieces.decoder = decoders.ByteLevel()
    pieces.add_special_tokens([token for token, kind in zip(tokens, kinds, strict=True) if kind == SPECIAL])
    return PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        bos_token=named("bos"),
        eos_token=named("eos"),
        unk_token=named("unknown"),
        pad_token=named("padding"),
        model_max_length=reader.fields["llama.context_length"].contents(),
        chat_template=reader.fields["tokenizer.chat_template"].contents(),
        clean_up_tokenization_spaces=False,
    )
