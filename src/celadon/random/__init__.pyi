"""Random numbers under JAX's names (jax.random), with JAX's bits: every function takes a key and draws from its stream."""

from celadon.random.choosing import (
    categorical as categorical,
    choice as choice,
    gumbel as gumbel,
    permutation as permutation,
)
from celadon.random.continuous import (
    cauchy as cauchy,
    exponential as exponential,
    laplace as laplace,
    logistic as logistic,
    maxwell as maxwell,
    normal as normal,
    truncated_normal as truncated_normal,
)
from celadon.random.counts import binomial as binomial, multinomial as multinomial, poisson as poisson
from celadon.random.gammas import (
    ball as ball,
    beta as beta,
    chisquare as chisquare,
    dirichlet as dirichlet,
    f as f,
    gamma as gamma,
    generalized_normal as generalized_normal,
    loggamma as loggamma,
    t as t,
)
from celadon.random.intervals import (
    bernoulli as bernoulli,
    bits as bits,
    rademacher as rademacher,
    randint as randint,
    uniform as uniform,
)
from celadon.random.keys import (
    PRNGKey as PRNGKey,
    clone as clone,
    fold_in as fold_in,
    key as key,
    key_data as key_data,
    key_dtype as key_dtype,
    key_impl as key_impl,
    split as split,
    wrap_key_data as wrap_key_data,
)
from celadon.random.matrices import multivariate_normal as multivariate_normal, orthogonal as orthogonal
from celadon.random.parametric import (
    double_sided_maxwell as double_sided_maxwell,
    geometric as geometric,
    lognormal as lognormal,
    pareto as pareto,
    rayleigh as rayleigh,
    triangular as triangular,
    wald as wald,
    weibull_min as weibull_min,
)
