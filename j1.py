import jax, numpy as np, jax.numpy as jnp
from jax import lax
x=jnp.asarray(np.random.default_rng(0).normal(size=(3,4)),'float32')
def tryit(name,f,*a):
    try: print(name, f(*a))
    except Exception as e: print(name,'ERR',repr(e)[:160])
f=lambda x,i=1.0: lax.reduce(x,jnp.float32(i),lambda a,b:a*b+a,(0,))
tryit('reduce jvp',lambda x: jax.jvp(f,(x,),(x,))[1],x)
tryit('reduce vjp',lambda x: jax.vjp(f,x)[1](jnp.ones(4)),x)
tryit('reduce jvp init',lambda x: jax.jvp(f,(x,1.0),(x,1.0))[1],x)
g=lambda x: lax.reduce((x,x),(jnp.float32(0),jnp.float32(1)),lambda a,b:(a[0]+b[0],a[1]*b[1]),(0,))
tryit('reduce2 jvp',lambda x: jax.jvp(g,(x,),(x,))[1],x)
def w(op,init): return lambda x: lax.reduce_window(x,init,op,(2,2),(1,1),'VALID')
for n,op,i in [('add',lax.add,0.),('max',lax.max,-np.inf),('min',lax.min,np.inf),('mul',lax.mul,1.),('gen',lambda a,b:a*b+a,1.),('max0',lax.max,0.),('add1',lax.add,1.)]:
    h=w(op,np.float32(i))
    tryit(n+' jvp',lambda x: jax.jvp(h,(x,),(x,))[1].shape,x)
    tryit(n+' vjp',lambda x: jax.vjp(h,x)[1](h(x))[0].shape,x)
    tryit(n+' jvp2',lambda x: jax.jvp(lambda x:jax.jvp(h,(x,),(x,))[1],(x,),(x,))[1].shape,x)
    tryit(n+' grad2',lambda x: jax.grad(lambda x: jax.grad(lambda x:(h(x)**2).sum())(x).sum())(x).shape,x)
    tryit(n+' vmap',lambda x: jax.vmap(h)(jnp.stack([x,x])).shape,x)
y=jnp.zeros((3,4))
print(jax.grad(lambda y:w(lax.max,-np.inf)(y).sum())(y), jax.jvp(w(lax.max,-np.inf),(y,),(x,))[1], x)
tryit('i32 max pool', lambda: jax.jvp(lambda x:lax.reduce_window((x,x.astype('int32')),(np.float32(0),np.int32(0)),lambda a,b:(a[0]+b[0],a[1]+b[1]),(2,2),(1,1),'VALID')[0],(x,),(x,)))
for n,op in [('sum',lax.cumsum),('prod',lax.cumprod),('max',lax.cummax)]:
    print(n, jax.jvp(lambda x: op(x,1),(y,),(x,))[1][0], x[0], jax.grad(lambda y:op(y,1).sum())(y)[0])
print(jax.make_jaxpr(lambda x:lax.reduce(x,jnp.float32(1),lambda a,b:a*b+a,(0,)))(x), jax.make_jaxpr(lambda x:lax.reduce(x,jnp.float32(0),lax.add,(0,)))(x),jax.make_jaxpr(lambda x:lax.reduce(x,jnp.float32(3),lax.add,(0,)))(x), jax.make_jaxpr(lambda x:lax.reduce(x,jnp.float32(3),lax.max,(0,)))(x))
