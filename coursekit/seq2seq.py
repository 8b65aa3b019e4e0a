"""Recurrent translators: one fixed vector between encoder and decoder, or attention to all of the encoder's states.

    model = load_seq2seq("additive")                                    # or "fixed", "dot"
    logits = model(pairs.source, shifted_target)                        # B Tt V

Each consists of a bidirectional LSTM as the encoder and an LSTM as the decoder. They differ only in the context that the
decoder receives with each token. Sutskever, Vinyals and Le (2014) and Cho et al. (2014) used one vector for the whole sentence; Bahdanau, Cho and Bengio (2015) used a new weighted sum for each token,
with scores from a small network. With "dot", the score is the product that Luong, Pham and Manning (2015) call *general*, but
computed where Bahdanau et al. compute theirs, before the new state. Sizes are chosen so that the number of parameters is about that of `coursekit.translator.Translator`, whose training and
decoding they share.

`python -m coursekit.pretrain --models seq2seq_fixed seq2seq_additive seq2seq_dot` trains them again.
"""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from coursekit.language import PAD, Language, load_language
from coursekit.stored import trained
from coursekit.translator import load_code

CONTEXTS = ("fixed", "additive", "dot")


class Seq2Seq(nn.Module):
    """A bidirectional LSTM as the encoder, an LSTM as the decoder, and the context that connects them.

    `attend` computes the context from (state, keys, values, W_s, v, keep) with additive attention, from (state, keys,
    values, keep) with a dot product, and returns it, or a pair that begins with it; a notebook may replace it with its own function.
    """

    def __init__(self, context: str, dim: int = 64, state: int = 64, language: Language | None = None):
        super().__init__()
        if context not in CONTEXTS:
            raise ValueError(f"There is no context {context!r}. Choose from {', '.join(CONTEXTS)}.")
        language = language or load_language()
        self.context, both = context, 2 * state
        self.source_words = nn.Embedding(len(language.vocabulary), dim)
        self.target_words = nn.Embedding(len(load_code(language).vocabulary), dim)
        self.reader = nn.LSTM(dim, state, batch_first=True, bidirectional=True)
        self.writer = nn.LSTMCell(dim + both, state)
        self.start = nn.Linear(both, state)
        self.readout = nn.Linear(state + both, dim)
        if context == "fixed":
            self.summary = nn.Linear(both, both)
        elif context == "additive":
            self.W_s = nn.Parameter(torch.randn(state, state) / state**0.5)
            self.W_k = nn.Parameter(torch.randn(both, state) / both**0.5)
            self.v = nn.Parameter(torch.randn(state) / state**0.5)
        else:
            self.W_k = nn.Parameter(torch.randn(both, state) / both**0.5)
        self.attend: Callable = dot_context if context == "dot" else additive_context
        for table in (self.source_words, self.target_words):
            # With 0.1, which is suitable before a norm, an LSTM's states start near 0.
            nn.init.normal_(table.weight, std=0.5)

    def encode(self, source: Int[Tensor, "B Ts"]) -> Float[Tensor, "B Ts 2*H"]:
        """The states at each word: the forward states followed by the backward states; 0 at padding."""
        words, lengths = self.source_words(source), (source != PAD).sum(dim=1)
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        states, _ = self.reader(packed)
        return pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])[0]

    def decode(
        self,
        inputs: Int[Tensor, "B Tt"],
        encoded: Float[Tensor, "B Ts 2*H"],
        source_keep: Bool[Tensor, "B Ts"],
        keep: Bool[Tensor, "Tt Tt"] | None = None,
    ) -> Float[Tensor, "B Tt V"]:
        """Logits of the token that follows each input. A recurrent decoder cannot see later tokens, so `keep` is not needed."""
        ends = last_states(encoded, source_keep)
        h = torch.tanh(self.start(ends))  # B H
        c = torch.zeros_like(h)
        if self.context == "fixed":
            context = torch.tanh(self.summary(ends))  # B 2H, the same at every token
        else:
            keys = encoded @ self.W_k  # B Ts A, once per sentence
        written = []
        for token in self.target_words(inputs).unbind(dim=1):
            if self.context != "fixed":
                weights = (self.W_s, self.v) if self.context == "additive" else ()
                seen = self.attend(h, keys, encoded, *weights, source_keep)
                context = seen[0] if isinstance(seen, tuple) else seen  # B 2H
            h, c = self.writer(torch.cat([token, context], dim=-1), (h, c))
            written.append(torch.cat([h, context], dim=-1))
        return torch.tanh(self.readout(torch.stack(written, dim=1))) @ self.target_words.weight.T

    def forward(
        self, source: Int[Tensor, "B Ts"], inputs: Int[Tensor, "B Tt"], keep: Tensor | None = None
    ) -> Float[Tensor, "B Tt V"]:
        """Logits of the token that follows each input, given the source; a recurrent decoder ignores `keep`."""
        return self.decode(inputs, self.encode(source), source != PAD, keep)


def last_states(
    encoded: Float[Tensor, "B Ts 2*H"], source_keep: Bool[Tensor, "B Ts"]
) -> Float[Tensor, "B 2*H"]:
    """The last state of each direction: the forward state at the last word and the backward state at the first word."""
    forward, backward = encoded.chunk(2, dim=-1)
    last = source_keep.sum(dim=1) - 1
    return torch.cat([forward[torch.arange(len(last)), last], backward[:, 0]], dim=-1)


def additive_context(
    state: Float[Tensor, "B H"],
    keys: Float[Tensor, "B Ts A"],
    values: Float[Tensor, "B Ts E"],
    W_s: Float[Tensor, "H A"],
    v: Float[Tensor, " A"],
    keep: Bool[Tensor, "B Ts"],
) -> Float[Tensor, "B E"]:
    """Additive attention (Bahdanau et al., 2015, equations 5 and 6), without the weights."""
    scores = torch.tanh(keys + (state @ W_s)[:, None]) @ v  # B Ts
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, None] @ values)[:, 0]


def dot_context(
    state: Float[Tensor, "B H"],
    keys: Float[Tensor, "B Ts H"],
    values: Float[Tensor, "B Ts E"],
    keep: Bool[Tensor, "B Ts"],
) -> Float[Tensor, "B E"]:
    """Attention with unscaled products (Luong et al., 2015, equation 8), without the weights."""
    scores = (keys @ state[:, :, None])[:, :, 0]  # B Ts
    weights = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return (weights[:, None] @ values)[:, 0]


def load_seq2seq(context: str) -> Seq2Seq:
    """The trained translator with this context, ready to translate. Its weights are stored in half precision."""
    return trained(Seq2Seq(context), f"seq2seq_{context}")
