"""Functions of neural networks under JAX's names (jax.nn); `initializers` is a module of its own."""

from celadon.facade import facade

_HOMES = {
    "activations": (
        "celu elu gelu glu hard_sigmoid hard_silu hard_swish hard_tanh identity leaky_relu log1mexp log_sigmoid mish relu "
        "relu6 selu sigmoid silu soft_sign softplus sparse_plus sparse_sigmoid squareplus swish tanh"
    ),
    "attention": "dot_product_attention",
    "encoding": "one_hot",
    "normalization": "log_softmax logmeanexp logsumexp softmax standardize",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["initializers"]
