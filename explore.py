import os, sys, time
os.environ.setdefault("JAX_PLATFORMS","cpu"); os.environ.setdefault("XLA_FLAGS","--xla_cpu_experimental_ynn_fusion_type=")
sys.path.insert(0,'/work/main')
import warnings
warnings.simplefilter("ignore")
import numpy as np, jax
jax.config.update("jax_enable_x64", True)
import celadon, celadon.vocabulary
import celadon.vocabulary.collective
from celadon.transforms import gradients
import celadon.transforms.mapping as mapping
from celadon.transforms.mapping import vmap
from celadon.op import registry
from celadon.types import kind, enable_x64, ArrayType
from celadon.tracing import recorded
from celadon.vocabulary.call import execute
from tests.vocabulary.samples import samples
from tests.vocabulary.oracle import FUNCTIONS
DOUBLE={np.dtype('f8'),np.dtype('c16')}
def moving(s): return [i for i,x in enumerate(s.arrays) if kind(x.dtype) in 'fc']
def results(s):
    r=s.op.result_type(*s.types,**s.params); return r if s.op.multiple else [r]
def cases(name):
    out=[]
    for s in samples(name):
        m=moving(s)
        if m and all(s.arrays[i].dtype in DOUBLE for i in m) and all(t.dtype in DOUBLE for t in results(s) if kind(t.dtype) in 'fc') and any(kind(t.dtype) in 'fc' for t in results(s)):
            out.append(s)
    return out
def function(s, call):
    m=moving(s)
    out=[k for k,t in enumerate(results(s)) if kind(t.dtype) in 'fc']
    def f(*xs):
        full=list(s.arrays)
        for i,x in zip(m,xs): full[i]=x
        r=call(*full,**s.params)
        r=list(r) if isinstance(r,(list,tuple)) else [r]
        return [r[k] for k in out]
    return f
def random(x,rng):
    v=rng.normal(size=x.shape)
    if x.dtype.kind=='c': v=v+1j*rng.normal(size=x.shape)
    return np.asarray(v).astype(x.dtype)
def jitter(x,rng):
    y=np.where(np.isfinite(x)&(abs(x)<30),x,random(x,rng))
    return np.asarray(y*(1+.01*random(x,rng))+.03*random(x,rng)).astype(x.dtype)
def trace(f,arrays):
    with recorded() as r:
        ins=[r.input(ArrayType(np.shape(x),np.asarray(x).dtype)) for x in arrays]
        outs=f(*ins)
        return r.program(outs)
def run(f):
    def g(*xs):
        return execute(trace(f,xs),[np.asarray(x) for x in xs])
    return g
def ours_jvp(f,n):
    return lambda *a: gradients.jvp(f,a[:n],a[n:])[1]
def ours_vjp(f,n):
    return lambda *a: list(gradients.vjp(f,*a[:n])[1](list(a[n:])))
def fd(f,xs,vs,h):
    at=lambda s:[np.asarray(y) for y in f(*[np.asarray(x+s*h*v) for x,v in zip(xs,vs)])]
    a,b,c,d=at(2),at(1),at(-1),at(-2)
    return [(8*(q-r)-(p-s_))/(12*h) for p,q,r,s_ in zip(a,b,c,d)]
def check(f,d,xs,vs):
    d1,d2=fd(f,xs,vs,1e-3),fd(f,xs,vs,4e-4)
    bad=0;tot=0;n=0;worst=0
    for a,b,t in zip(d1,d2,d):
        scale=1+abs(b)
        ok=np.isfinite(a)&np.isfinite(b)&(abs(a-b)<1e-6*scale)
        n+=ok.size; tot+=ok.sum()
        err=np.where(ok,abs(t-b)/scale,0); 
        if err.size: worst=max(worst,err.max() if not np.isnan(err).any() else np.inf)
    return worst,tot,n
