from explore import *
from tests.vocabulary.oracle import _broadcast
def theirs(s):
    f=function(s, FUNCTIONS[s.op.name])
    m=moving(s)
    if s.op.kind=='elementwise' and len({x.shape for x in s.arrays})>1:
        shape=np.broadcast_shapes(*[x.shape for x in s.arrays])
        g=FUNCTIONS[s.op.name]
        f=function(s, lambda *xs,**p: g(*[jax.numpy.broadcast_to(x,shape) for x in xs],**p))
    return f
def j_jvp(f,n): return lambda *a: jax.jvp(lambda *x:f(*x),a[:n],a[n:])[1]
def j_vjp(f,n): return lambda *a: list(jax.vjp(lambda *x:f(*x),*a[:n])[1](list(a[n:])))
names=sys.argv[1:] or [n for n in registry if n in FUNCTIONS]
def compare(a,b):
    a=np.asarray(a);b=np.asarray(b)
    if a.shape!=b.shape or a.dtype!=b.dtype: return f'{a.dtype}{a.shape} {b.dtype}{b.shape}',None
    sc=1+abs(b)
    with np.errstate(all='ignore'):
        ok=(a==b)|(np.isnan(a)&np.isnan(b))|(abs(a-b)<1e-9*np.where(np.isfinite(sc),sc,0))
    return None if ok.all() else f'{(~ok).sum()}/{ok.size}', ~ok
with celadon.enable_x64(True), np.errstate(all='ignore'):
  for name in names:
    t0=time.time()
    cs=cases(name)
    if not cs: continue
    rng=np.random.default_rng(1)
    work=[]
    for s in cs:
        m=moving(s);n=len(m)
        xs=[s.arrays[i] for i in m]
        vs=[random(x,rng) for x in xs]
        fo=function(s,s.op); fj=theirs(s)
        outs=[np.zeros(t.shape,t.dtype) for t in results(s) if kind(t.dtype) in 'fc']
        ws=[random(y,rng) for y in outs]
        us=[random(x,rng) for x in xs+vs]; zs=[random(x,rng) for x in xs+ws]
        ours=[(ours_jvp(fo,n),xs+vs),(ours_vjp(fo,n),xs+ws),(ours_jvp(ours_jvp(fo,n),2*n),xs+vs+us),(ours_jvp(ours_vjp(fo,n),n+len(ws)),xs+ws+zs)]
        th=[(j_jvp(fj,n),xs+vs),(j_vjp(fj,n),xs+ws),(j_jvp(j_jvp(fj,n),2*n),xs+vs+us),(j_jvp(j_vjp(fj,n),n+len(ws)),xs+ws+zs)]
        work.append((s,ours,th))
    t1=time.time()
    try:
        J=jax.jit(lambda args:[[f(*a) for (f,_),a in zip(th,aa)] for (_,_,th),aa in zip(work,args)])([[a for _,a in th] for _,_,th in work])
    except Exception as e:
        print(name,'JAX',repr(e)[:300]); continue
    t2=time.time()
    msgs=[]
    for (s,ours,th),js in zip(work,J):
        for k,((f,a),j) in enumerate(zip(ours,js)):
            try: o=run(f)(*a)
            except Exception as e: msgs.append((k,str(s),repr(e)[:100])); continue
            for q,(x,y) in enumerate(zip(o,j)):
                why,where=compare(x,y)
                if why:
                    det=''
                    if where is not None:
                        idx=np.argwhere(where)[:4]
                        for i in idx:
                            i=tuple(i)
                            pt=[arr[i] if arr.shape==where.shape else (arr if arr.shape==() else '?') for arr in (s.arrays[i_] for i_ in moving(s))]
                            det+=f' @{pt}: {np.asarray(x)[i]} vs {np.asarray(y)[i]};'
                    msgs.append((['jvp','vjp','jvp2','vjp2'][k],str(s)[:100],q,why,det[:500]))
    print(f"{name} {len(cs)} jax {t2-t1:.2f}s ours {time.time()-t2:.2f}s", 'OK' if not msgs else '',flush=True)
    for m in msgs[:8]: print('    ',*m)
