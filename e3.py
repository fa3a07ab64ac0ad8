from explore import *
import itertools, collections
def variants(x):
    """three members"""
    if x.ndim: return [x, np.flip(x,0), np.roll(x,1,0)]
    if x.dtype==bool: return [x,~x,x]
    return [x, (x+np.asarray(1,x.dtype)).astype(x.dtype), (x*np.asarray(2,x.dtype)).astype(x.dtype)]
def check_batch(s, mask, axes):
    members=[variants(x) if b else [x]*3 for x,b in zip(s.arrays,mask)]
    want=[s.op.numpy(*[m[k] for m in members],**s.params) for k in range(3)]
    want=[list(w) if s.op.multiple else [w] for w in want]
    args=[np.stack(m,a) if b else m[0] for m,b,a in zip(members,mask,axes)]
    f=vmap(lambda *xs: s.op(*xs,**s.params),in_axes=tuple(a if b else None for a,b in zip(axes,mask)),axis_size=3)
    got=run(lambda *xs:(lambda r:list(r) if isinstance(r,(list,tuple)) else [r])(f(*xs)))(*args)
    for k,g in enumerate(got):
        w=np.stack([np.asarray(x[k]) for x in want])
        assert g.dtype==w.dtype,(g.dtype,w.dtype)
        assert g.shape==w.shape,(g.shape,w.shape)
        np.testing.assert_allclose(g.astype('c16' if g.dtype.kind=='c' else 'f8'),w.astype('c16' if g.dtype.kind=='c' else 'f8'),rtol=1e-12,atol=1e-12) if kind(g.dtype) in 'fc' and g.dtype.itemsize>2 and not s.op.exactly(s.types) else np.testing.assert_array_equal(g,w)
if __name__=='__main__':
  names=sys.argv[1:] or list(registry)
  with celadon.enable_x64(True), np.errstate(all='ignore'):
   for name in names:
    t0=time.time(); msgs=collections.Counter(); n=0
    ss=samples(name)
    for s in ss:
        if not s.arrays or s.dtype not in (np.dtype('f8'),np.dtype('i4'),np.dtype(bool),np.dtype('c16'),np.dtype('f4')): continue
        if sum(x.size for x in s.arrays)>3000: continue
        for mask in itertools.product([0,1],repeat=len(s.arrays)):
            if not any(mask): continue
            for shift in range(3):
                axes=[(shift+i)%(x.ndim+1) for i,x in enumerate(s.arrays)]
                n+=1
                try: check_batch(s,mask,axes)
                except Exception as e:
                    msgs[f'{str(s)[:80]} {mask} {axes} {repr(e)[:200] if not isinstance(e,AssertionError) else "ASSERT "+str(e)[:300]}'.replace(chr(10),' ')]+=1
    print(f"{name} {n} {time.time()-t0:.2f}s",'OK' if not msgs else f'{len(msgs)} bad',flush=True)
    for m in list(msgs)[:4]: print('    ',m)
