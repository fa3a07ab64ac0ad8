import mpmath as mp
mp.mp.dps=60
def cheb(f,n):
    nodes=[mp.cos(mp.pi*(k+mp.mpf(1)/2)/n) for k in range(n)]
    v=[f(t) for t in nodes]
    return [ (2 if j else 1)*sum(v[k]*mp.cos(j*mp.pi*(k+mp.mpf(1)/2)/n) for k in range(n))/n for j in range(n)]
near=lambda t: mp.besseli(0,4*(t+1))*mp.exp(-4*(t+1))
def far(t):
    if t<=-1: return 1/mp.sqrt(2*mp.pi)
    x=16/(t+1); return mp.besseli(0,x)*mp.exp(-x)*mp.sqrt(x)
a=cheb(near,60); b=cheb(far,60)
def trim(c):
    out=[float(x) for x in c]
    n=len(out)
    while abs(out[n-1])<1e-16*2: n-=1
    return out[:n+1]
def show(n,c):
    s=f"{n}: Coefficients = (\n   "
    line="   "
    lines=[];cur="   "
    for x in c:
        w=f" {x!r},"
        if len(cur)+len(w)>118: lines.append(cur);cur="   "
        cur+=w
    lines.append(cur)
    return f"{n}: Coefficients = (\n"+"\n".join(lines)+"\n)  # fmt: skip"
print(show('_I0_NEAR',trim(a))); print(show('_I0_FAR',trim(b)))
i1=cheb(lambda t: (mp.besseli(1,4*(t+1))*mp.exp(-4*(t+1))/(4*(t+1)) if t>-1 else mp.mpf(1)/2),60)
print(float(i1[0]))
