"""Floats come in, the special functions of CHLO go out: error functions, gamma functions and a Bessel function."""

from __future__ import annotations

import math

from celadon.cpu.ir import Value
from celadon.cpu.math_exponential import (
    clamped,
    expm1_part,
    exponential,
    log,
    log_plus_one,
    power_of_two,
    reduced,
    two_powers,
)
from celadon.cpu.math_rounding import round_nearest_even
from celadon.cpu.math_trigonometric import SINE
from celadon.cpu.outline import outlined, outlined_wide

ERF = {
    "f32": (
        0.12837916612625122, -0.37612631916999817, 0.11283677816390991, -0.026858672499656677, 0.005199592560529709,
        -0.000812903861515224, 8.320311462739483e-05,
    ),
    "f64": (
        0.1283791670955126, -0.37612638903183876, 0.11283791670958758, -0.026866170645623254, 0.005223977629134519,
        -0.0008548327191884396, 0.00012055337860812884, -1.4925740478399109e-05, 1.6463118294724763e-06,
        -1.6370963353816346e-07, 1.478869428645118e-08, -1.1838725328038119e-09, 6.698322057245423e-11,
    ),
}  # fmt: skip
LOG_ERFC = (
    0.00015297782374545932, -1.1293946504592896, -0.6336334943771362, -0.1078968495130539, 0.024805041030049324,
    -0.004009154159575701, 0.00038337084697559476, -1.2067348507116549e-05, -6.835844033048488e-07,
)  # fmt: skip
ERFC = (
    1.2530080582697296, -0.13562110612458095, -0.04756229435343228, 0.12964515870272963, -0.11927366341647884,
    0.06830802734527232, -0.023770514890108365, 0.0025293917907530526, 0.0018886900049574341, -0.0007798319958093982,
    -0.00010515725598498454, 0.0001250975220797443, 4.938228400312807e-06, -2.0092921727558262e-05,
    -7.000558547359923e-07, 3.45214288179038e-06, 3.0170923740813526e-07, -5.834555695185494e-07,
    -8.355349511030161e-08, 7.088823299210144e-08, 8.573619316556573e-09,
)  # fmt: skip
ERF_INV = {
    "f32": (
        0.2514093518257141, 0.24664027988910675, -0.004177370574325323, -0.001252732123248279,
        0.00021833494247402996, -4.968188022758113e-06, -3.4606537155923434e-06, 4.671121587307425e-07,
        2.3085322098381766e-08, -8.853838551203808e-09,
    ),
    "f64": (
        0.2514094233889361, 0.2466407253392113, -0.004177708855873498, -0.001253708618840631,
        0.00021860164466195608, -4.396521220343806e-06, -3.5286783525571177e-06, 3.4372346257166674e-07,
        2.8524085588856175e-08,
    ),
}  # fmt: skip
ERF_INV_TAIL = {
    "f32": (
        -0.042023200541734695, 1.001675009727478, 0.00944547913968563, -0.007638094015419483, 0.005685125011950731,
        -0.0035933535546064377, 0.0014902756083756685, -6.468727224273607e-05, -0.0003139337641187012,
        0.0001211483686347492,
    ),
    "f64": (
        0.9647813018325668, 1.0095106113249277, 0.0012936423049904765, -0.0009415043754756503, 0.0002553573049932614,
        -2.8052143340622563e-05, 9.090638215410265e-05, -7.885215924035327e-05, 1.7770064853769007e-05,
    ),
}  # fmt: skip
ERF_INV_FIRST = (1.25, 2.875)
LOG_GAMMA = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531967, 0.02058080842778705, -0.007385551028790041,
    0.002890510330599104, -0.0011927539072586668, 0.0005096695287286337, -0.0002231548523741442,
    9.945744937209614e-05, -4.492503952594089e-05, 2.0507826998881677e-05, -9.44908478217809e-06,
    4.371150307360199e-06, -1.9904874969340277e-06, 9.690469061431308e-07, -6.01507055546433e-07,
    1.8165373635052867e-07, 1.6735276464713494e-07, 8.114751585864566e-08, -2.277882043717014e-07,
)  # fmt: skip
STIRLING = (
    0.08333333333333333, -0.002777777777766694, 0.0007936507860206042, -0.0005952357675222554, 0.0008413831248969847,
    -0.0018859384008034672, 0.004978506732096748,
)  # fmt: skip
DIGAMMA = (
    0.08333333333333333, -0.00833333333328741, 0.003968253916974023, -0.004166646003134655, 0.007571821646479278,
    -0.020704998116879363, 0.0637637447974038,
)  # fmt: skip
BESSEL_I1_SMALL = (
    0.5, 0.0625, 0.002604166666666666, 5.425347222222281e-05, 6.781684027775397e-07, 5.651403356534078e-09,
    3.3639305686140184e-11, 1.5017547250170878e-13, 5.214425690117534e-16, 1.4484535707207153e-18,
    3.291874681588717e-21, 6.236159319707773e-24, 9.967531894157399e-27, 1.4003806474612348e-29,
    1.421819432929971e-32, 2.628170193280285e-35,
)  # fmt: skip
BESSEL_I1_LARGE = (
    0.38939845902587233, -0.00974957719323567, -0.00021923576383282042, -1.5038547206761995e-05,
    -1.8349102102860682e-06, -3.483854068287725e-07, -1.000112237564451e-07, -4.313130449047856e-08,
    -2.3391015259647715e-08, -8.412967019129038e-09, 6.835338912971248e-09, 1.3971538267971154e-08,
    5.60249343456912e-09, -7.472277936907604e-09, -6.993442039981615e-09, 3.124450440434251e-09,
    4.814461125388336e-09, -1.0904538562649558e-09, -2.294839765077066e-09, 2.7769328205089934e-10,
    6.88879373029314e-10, -3.647008488896561e-11, -9.668920697864417e-11,
)  # fmt: skip


@outlined
def erf(x: Value) -> Value:
    size = x.abs()
    small = x.fma((x * x).polynomial(ERF[x.kind]), x)
    if x.kind == "f32":
        border, complement = 0.92, _exponential(clamped(size, 0.5, 4.0).polynomial(LOG_ERFC))
    else:
        border, complement = 1.0, _erfc_tail(clamped(size, 0.5, 6.0))
    return (size >= border).select((1.0 - complement).copysign(x), small)


@outlined_wide
def erfc(x: Value) -> Value:
    tail = _erfc_tail(clamped(x.abs(), 0.5, 28.0))
    near = (-x).fma((x * x).polynomial(ERF["f64"]), 1.0 - x)
    far = (x < 0.0).select(2.0 - tail, tail)
    return (x.abs() < 0.5).select(near, far)


def _erfc_tail(x: Value) -> Value:
    """erfc(x) for x >= 1/2: e^(-x^2) / (1 + 2 x) times a polynomial in (x - 3) / (x + 3)."""
    square = x * x
    rest = x.fma(x, -square)
    factor = ((x - 3.0) / (x + 3.0)).polynomial(ERFC) / (x + x + 1.0)
    shifted, r = reduced(-square)
    first, second = two_powers(shifted)
    value = (expm1_part(r) + 1.0) * factor
    return (-value).fma(rest, value) * first * second


def _exponential(x: Value) -> Value:
    """e^x where that is a normal number."""
    shifted, r = reduced(x)
    return (expm1_part(r) + 1.0) * power_of_two(shifted)


@outlined
def erf_inv(x: Value) -> Value:
    """x times a polynomial in w = -log(1 - x^2), or in its root where large; then Halley's step in float64."""
    w = -log.inline((-x).fma(x, 1.0)) if x.kind == "f32" else -log_plus_one(-x * x)
    center = {"f32": 3.0, "f64": 4.0}[x.kind]
    middle = (w - 2.5).polynomial(ERF_INV[x.kind])
    tail = (clamped(w, 5.0, 37.0).sqrt() - center).polynomial(ERF_INV_TAIL[x.kind])
    near = w < 5.0
    first = near.select(x.function.like(x, ERF_INV_FIRST[0]), ERF_INV_FIRST[1])
    result = x.fma(first, x * near.select(middle, tail))
    if x.kind == "f64":
        result = _improved_erf_inv(x, result)
    size = x.abs()
    finite = size.equals(1.0).select(float("inf"), result.abs())
    return (size > 1.0).select(float("nan"), finite.copysign(x))


def _improved_erf_inv(x: Value, y: Value) -> Value:
    size, guess = x.abs(), y.abs()
    near = guess.fma((guess * guess).polynomial(ERF["f64"]), guess) - size
    far = 1.0 - size - _erfc_tail(clamped(guess, 0.4, 6.0))
    slope = _exponential(-guess * guess) * (2 / math.sqrt(math.pi))
    step = (guess < 0.5).select(near, far) / slope
    better = guess - step / guess.fma(step, 1.0)
    return better.copysign(x)


@outlined_wide
def lgamma(x: Value) -> Value:
    """log |gamma(x)|, by reflection below 1/2."""
    reflected = x < 0.5
    z = reflected.select(1.0 - x, x)
    value = _lgamma_above_half(z)
    part = x - round_nearest_even(x)
    size = part.abs()
    tiny = size < 2.0**-1000  # its sine has few digits, or none
    sine = _sine_of_turns(tiny.select(size * 2.0**80, size))
    logarithm = log(sine) - tiny.select(80 * math.log(2), x.function.like(x, 0.0))
    reflection = math.log(math.pi) - logarithm - value
    pole = part.equals(0.0) & (x <= 0.0) | x.abs().equals(float("inf"))
    return pole.select(float("inf"), reflected.select(reflection, value))


def _lgamma_above_half(z: Value) -> Value:
    """Stirling's series from 8 on; below, steps of one to [1.5, 2.5), where lgamma is a polynomial."""
    w, product = z, z.function.like(z, 1.0)
    for _ in range(6):
        above = w >= 2.5
        product = above.select(product * (w - 1.0), product)
        w = above.select(w - 1.0, w)
    low = z < 1.5
    w = low.select(z - 1.0, w - 2.0)
    large = z >= 8.0
    logarithm = log(large.select(z, low.select(z, product)))
    small = w * w.polynomial(LOG_GAMMA) + low.select(-logarithm, logarithm)
    inverse = 1.0 / z
    series = inverse * (inverse * inverse).polynomial(STIRLING)
    stirling = (z - 0.5) * (logarithm - 1.0) + (series + (0.5 * math.log(2 * math.pi) - 0.5))
    return large.select(z.equals(float("inf")).select(z, stirling), small)


def _sine_of_turns(t: Value) -> Value:
    """sin(pi t) for |t| <= 1/2."""
    r = t * math.pi
    z = r * r
    return (z * z.polynomial(SINE["f64"])).fma(r, r)


@outlined_wide
def digamma(x: Value) -> Value:
    """The derivative of lgamma; not a number at its poles 0, -1, -2 ..."""
    reflected = x < 0.5
    value = _digamma_above_half(reflected.select(1.0 - x, x))
    part = x - round_nearest_even(x)
    cotangent = _sine_of_turns(0.5 - part.abs()) / _sine_of_turns(part.abs())
    result = reflected.select(value - math.pi * cotangent.copysign(part), value)
    pole = part.equals(0.0) & (x <= 0.0)
    return pole.select(float("nan"), result)


def _digamma_above_half(z: Value) -> Value:
    """An asymptotic series from 8 on; below, steps of one up to it, their reciprocals summed as one fraction."""
    above, below = z.function.like(z, 0.0), z.function.like(z, 1.0)
    w = z
    for _ in range(8):
        short = w < 8.0
        above = short.select(above.fma(w, below), above)
        below = short.select(below * w, below)
        w = short.select(w + 1.0, w)
    inverse = 1.0 / w
    square = inverse * inverse
    series = log(w) - inverse * 0.5 - square * square.polynomial(DIGAMMA)
    return series - above / below


@outlined_wide
def bessel_i1e(x: Value) -> Value:
    """e^(-|x|) I1(x)."""
    size = x.abs()
    square = clamped(x * x, 0.0, 64.0)
    small = exponential(-size) * size * square.polynomial(BESSEL_I1_SMALL)
    large = clamped(size, 8.0, float("inf"))
    tail = (16.0 / large - 1.0).polynomial(BESSEL_I1_LARGE) / large.sqrt()
    return (size > 8.0).select(tail, small).copysign(x)
