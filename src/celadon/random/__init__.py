"""Random numbers under JAX's names (jax.random), with JAX's bits: every function takes a key and draws from its stream."""

from celadon.facade import facade

_HOMES = {
    "choosing": "categorical choice gumbel permutation",
    "continuous": "cauchy exponential laplace logistic maxwell normal truncated_normal",
    "counts": "binomial multinomial poisson",
    "gammas": "ball beta chisquare dirichlet f gamma generalized_normal loggamma t",
    "intervals": "bernoulli bits rademacher randint uniform",
    "keys": "PRNGKey clone fold_in key key_data key_dtype key_impl split wrap_key_data",
    "matrices": "multivariate_normal orthogonal",
    "parametric": "double_sided_maxwell geometric lognormal pareto rayleigh triangular wald weibull_min",
}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
