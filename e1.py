from explore import *
names=sys.argv[1:] or list(registry)
with celadon.enable_x64(True), np.errstate(all='ignore'):
  for name in names:
    t0=time.time()
    try: cs=cases(name)
    except Exception as e: print(name,'SAMPLES',repr(e)[:100]); continue
    ss=samples(name)
    inex=[s for s in ss if any(kind(t.dtype) in 'fc' for t in results(s)) and moving(s)]
    if not ss: print(name,'no samples'); continue
    if not cs:
        if inex: print(name,'no double cases')
        continue
    msgs=[]
    for s in cs:
        rng=np.random.default_rng(1)
        m=moving(s); n=len(m)
        xs=[jitter(s.arrays[i],rng) for i in m]; vs=[random(x,rng) for x in xs]
        fo=function(s,s.op)
        fn=run(fo)
        try:
            d=run(ours_jvp(fo,n))(*xs,*vs)
            w,tot,cnt=check(fn,d,xs,vs)
            if w>1e-6 or tot<cnt*.4: msgs.append(('jvp',str(s),w,tot,cnt))
            ws=[random(y,rng) for y in d]
            ct=run(ours_vjp(fo,n))(*xs,*ws)
            A=[w_*d_ for w_,d_ in zip(ws,d)]; B=[c*v for c,v in zip(ct,vs)]
            if all(np.isfinite(z).all() for z in A+B):
                a=sum(z.sum().real for z in A); b=sum(z.sum().real for z in B)
                if abs(a-b)>1e-9*(1+sum(abs(z).sum() for z in A)): msgs.append(('dot',str(s),a,b))
            # second
            f2=ours_jvp(fo,n); f2n=run(f2)
            us=[random(x,rng) for x in xs+vs]
            d2=run(ours_jvp(f2,2*n))(*xs,*vs,*us)
            w,tot,cnt=check(f2n,d2,xs+vs,us)
            if w>1e-5 or tot<cnt*.3: msgs.append(('jvp2',str(s),w,tot,cnt))
            f3=ours_vjp(fo,n); f3n=run(f3)
            us=[random(x,rng) for x in xs+ws]
            d3=run(ours_jvp(f3,n+len(ws)))(*xs,*ws,*us)
            w,tot,cnt=check(f3n,d3,xs+ws,us)
            if w>1e-5 or tot<cnt*.3: msgs.append(('vjp2',str(s),w,tot,cnt))
        except Exception as e:
            msgs.append(('EXC',str(s),repr(e)[:150]))
    print(f"{name} {len(cs)} {time.time()-t0:.2f}s", 'OK' if not msgs else '')
    for m in msgs[:6]: print('    ',m)
