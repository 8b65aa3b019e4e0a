"""tries: nothing: a torch module in inference mode, on a view with strides
loses: nothing
cell: attention-split_heads
"""


class Split(torch.nn.Module):
    @torch.inference_mode()
    def forward(self, x, heads):
        return x.unflatten(-1, (heads, -1)).permute(0, 2, 1, 3)


def split_heads(x, heads):
    return Split()(x, heads)
