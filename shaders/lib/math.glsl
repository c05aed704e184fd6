// Double-precision functions that GLSL lacks, by the methods of fdlibm (Copyright (C) 1993 by Sun Microsystems, Inc.;
// permission to use, copy, modify and distribute is freely granted, provided that this notice is preserved).
//
// Each is within 1 unit in the last place of the exact value for nearly every argument, and within 2 of Rust's; infinities,
// NaN, signed zeros and subnormal numbers as in Rust. `precise` keeps a compiler from contracting or cancelling what the
// methods rely on. There is no double `fma`, `trunc` or `roundEven` here: software Vulkan rounds them wrongly.
//
// CPU twin: the functions of `f64` with the same names.

#define INFINITY packDouble2x32(uvec2(0u, 0x7ff00000u))
#define NOT_A_NUMBER packDouble2x32(uvec2(0u, 0x7ff80000u))

uint high_word(double x) {
    return unpackDouble2x32(x).y;
}

double with_high_word(double x, uint high) {
    return packDouble2x32(uvec2(unpackDouble2x32(x).x, high));
}

// 2^k for a normal result.
double power_of_two(int k) {
    return packDouble2x32(uvec2(0u, uint(k + 1023) << 20));
}

const double LN2_HIGH = 6.93147180369123816490e-01lf;
const double LN2_LOW = 1.90821492927058770002e-10lf;

// log(1 + f) - (f - f^2/2) over s = f/(2 + f), for 1 + f within [sqrt(1/2), sqrt(2)].
double log_remainder(double s) {
    precise double z = s * s;
    precise double w = z * z;
    precise double even = w * (3.999999999940941908e-01lf
        + w * (2.222219843214978396e-01lf + w * 1.531383769920937332e-01lf));
    precise double odd = z * (6.666666666666735130e-01lf + w * (2.857142874366239149e-01lf
        + w * (1.818357216161805012e-01lf + w * 1.479819860511658591e-01lf)));
    precise double sum = odd + even;
    return sum;
}

// k log 2 + log(1 + f) + c.
double log_sum(double f, int k, double c) {
    precise double square = 0.5lf * f * f;
    precise double s = f / (2.0lf + f);
    precise double remainder = log_remainder(s);
    double whole = double(k);
    precise double result = s * (square + remainder) + (whole * LN2_LOW + c) - square + f + whole * LN2_HIGH;
    return result;
}

double gusset_log(double x) {
    uvec2 bits = unpackDouble2x32(x);
    if (((bits.y & 0x7fffffffu) | bits.x) == 0u) return -INFINITY;
    if ((bits.y >> 31) != 0u) return NOT_A_NUMBER;
    if (bits.y >= 0x7ff00000u) return x;
    int k = 0;
    if (bits.y < 0x00100000u) {
        // A subnormal number, brought to a normal one on its bits: hardware may take it for zero.
        int shift = bits.y != 0u ? 20 - findMSB(bits.y) : 52 - findMSB(bits.x);
        k = -shift;
        if (shift >= 32) {
            bits = uvec2(0u, bits.x << (shift - 32));
        } else {
            bits = uvec2(bits.x << shift, (bits.y << shift) | (bits.x >> (32 - shift)));
        }
        bits.y = (bits.y & 0x000fffffu) | 0x00100000u;
    }
    // 1 + f within [sqrt(1/2), sqrt(2)]
    uint high = bits.y + (0x3ff00000u - 0x3fe6a09eu);
    k += int(high >> 20) - 1023;
    high = (high & 0x000fffffu) + 0x3fe6a09eu;
    precise double f = packDouble2x32(uvec2(bits.x, high)) - 1.0lf;
    return log_sum(f, k, 0.0lf);
}

double gusset_log1p(double x) {
    uint high = high_word(x);
    if ((high >> 31) == 0u && high >= 0x7ff00000u) return x;
    if (high >= 0xbff00000u) return x == -1.0lf ? -INFINITY : NOT_A_NUMBER;
    if ((high << 1) < (0x3ca00000u << 1)) return x;
    if (high < 0x3fda827au || ((high >> 31) != 0u && high <= 0xbfd2bec4u)) return log_sum(x, 0, 0.0lf);
    precise double u = 1.0lf + x;
    uint above = high_word(u) + (0x3ff00000u - 0x3fe6a09eu);
    int k = int(above >> 20) - 1023;
    // What 1 + x lost to rounding.
    precise double c = 0.0lf;
    if (k < 54) {
        precise double lost = k >= 2 ? 1.0lf - (u - x) : x - (u - 1.0lf);
        c = lost / u;
    }
    precise double f = with_high_word(u, (above & 0x000fffffu) + 0x3fe6a09eu) - 1.0lf;
    return log_sum(f, k, c);
}

double gusset_exp(double x) {
    if (isnan(x)) return x;
    if (x > 709.782712893383973096lf) return INFINITY;
    if (x < -745.13321910194110842lf) return 0.0lf;
    int k = 0;
    precise double high = x;
    precise double low = 0.0lf;
    if (abs(x) > 0.34657359027997264lf) {
        k = int(1.44269504088896338700lf * x + (x < 0.0lf ? -0.5lf : 0.5lf));
        high = x - double(k) * LN2_HIGH;
        low = double(k) * LN2_LOW;
    }
    precise double r = high - low;
    precise double z = r * r;
    precise double c = r - z * (1.66666666666666019037e-01lf + z * (-2.77777777770155933842e-03lf
        + z * (6.61375632143793436117e-05lf + z * (-1.65339022054652515390e-06lf + z * 4.13813679705723846039e-08lf))));
    precise double y = 1.0lf + (r * c / (2.0lf - c) - low + high);
    if (k > 1000) return y * power_of_two(k - 1000) * power_of_two(1000);
    if (k < -1000) return y * power_of_two(k + 1000) * power_of_two(-1000);
    return y * power_of_two(k);
}

double arc_tangent(double x) {
    // x >= 0
    if (high_word(x) >= 0x44100000u) return 1.57079632679489655800lf;
    precise double t = x;
    double base = 0.0lf, rest = 0.0lf;
    bool reduced = true;
    if (x < 0.4375lf) {
        if (x < 7.450580596923828125e-9lf) return x;
        reduced = false;
    } else if (x < 0.6875lf) {
        base = 4.63647609000806093515e-01lf;
        rest = 2.26987774529616870924e-17lf;
        t = (2.0lf * x - 1.0lf) / (2.0lf + x);
    } else if (x < 1.1875lf) {
        base = 7.85398163397448278999e-01lf;
        rest = 3.06161699786838301793e-17lf;
        t = (x - 1.0lf) / (x + 1.0lf);
    } else if (x < 2.4375lf) {
        base = 9.82793723247329054082e-01lf;
        rest = 1.39033110312309984516e-17lf;
        t = (x - 1.5lf) / (1.0lf + 1.5lf * x);
    } else {
        base = 1.57079632679489655800e+00lf;
        rest = 6.12323399573676603587e-17lf;
        t = -1.0lf / x;
    }
    precise double z = t * t;
    precise double w = z * z;
    precise double odd = z * (3.33333333333329318027e-01lf + w * (1.42857142725034663711e-01lf
        + w * (9.09088713343650656196e-02lf + w * (6.66107313738753120669e-02lf
        + w * (4.97687799461593236017e-02lf + w * 1.62858201153657823623e-02lf)))));
    precise double even = w * (-1.99999999998764832476e-01lf + w * (-1.11111104054623557880e-01lf
        + w * (-7.69187620504482999495e-02lf + w * (-5.83357013379057348645e-02lf + w * -3.65315727442169155270e-02lf))));
    precise double bent = t * (odd + even);
    precise double small = t - bent;
    precise double result = base - ((bent - rest) - t);
    return reduced ? result : small;
}

double gusset_atan2(double y, double x) {
    const double PI = 3.1415926535897931160e+00lf, PI_LOW = 1.2246467991473531772e-16lf;
    if (isnan(x) || isnan(y)) return NOT_A_NUMBER;
    uvec2 by = unpackDouble2x32(y), bx = unpackDouble2x32(x);
    uint iy = by.y & 0x7fffffffu, ix = bx.y & 0x7fffffffu;
    bool down = (by.y >> 31) != 0u, left = (bx.y >> 31) != 0u;
    if ((iy | by.x) == 0u) return left ? (down ? -PI : PI) : y;
    if ((ix | bx.x) == 0u) return down ? -0.5lf * PI : 0.5lf * PI;
    if (ix == 0x7ff00000u) {
        double angle = iy == 0x7ff00000u ? (left ? 0.75lf * PI : 0.25lf * PI) : (left ? PI : 0.0lf);
        return down ? -angle : angle;
    }
    if (iy == 0x7ff00000u || ix + (64u << 20) < iy) return down ? -0.5lf * PI : 0.5lf * PI;
    precise double ratio = abs(y) / abs(x);
    double angle = left && iy + (64u << 20) < ix ? 0.0lf : arc_tangent(ratio);
    precise double turned = PI - (angle - PI_LOW);
    angle = left ? turned : angle;
    return down ? -angle : angle;
}

// 2/pi, 32 bits a word, after 64 zero bits.
const uint TWO_OVER_PI[42] = uint[](
    0x00000000u, 0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
    0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u, 0xb7246e3au, 0x424dd2e0u,
    0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu, 0xe88235f5u, 0x2ebb4484u,
    0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu, 0xbdf9283bu,
    0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau,
    0x6bfb5fb1u, 0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du
);

// An angle less a multiple of pi/2, as a sum of two doubles, and that multiple modulo 4.
struct Reduced {
    double high;
    double low;
    uint quadrant;
};

// Product of two doubles as a sum of two, by Dekker.
void exact_product(double a, double b, out double high, out double low) {
    precise double ta = 134217729.0lf * a;
    precise double tb = 134217729.0lf * b;
    precise double a1 = ta - (ta - a);
    precise double b1 = tb - (tb - b);
    precise double a2 = a - a1;
    precise double b2 = b - b1;
    precise double p = a * b;
    precise double e = ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
    high = p;
    low = e;
}

// Payne and Hanek: only those bits of 2/pi are multiplied that matter modulo 4.
Reduced reduce_large(double x) {
    uvec2 bits = unpackDouble2x32(x);
    int exponent = int((bits.y >> 20) & 0x7ffu) - 1075;
    uint m1 = (bits.y & 0x000fffffu) | 0x00100000u, m0 = bits.x;
    uint first = uint(exponent - 2 + 64), word = first >> 5, shift = first & 31u;
    // 192 bits, the lowest word first; the product modulo 2^192.
    uint window[6];
    for (int k = 0; k < 6; ++k) {
        uint at = word + 5u - uint(k);
        window[k] = shift == 0u ? TWO_OVER_PI[at]
            : (TWO_OVER_PI[at] << shift) | (TWO_OVER_PI[at + 1u] >> (32u - shift));
    }
    uint product[6] = uint[](0u, 0u, 0u, 0u, 0u, 0u);
    for (int part = 0; part < 2; ++part) {
        uint factor = part == 0 ? m0 : m1, carry = 0u;
        for (int k = 0; k + part < 6; ++k) {
            uint upper, lower, over;
            umulExtended(window[k], factor, upper, lower);
            lower = uaddCarry(lower, carry, over);
            upper += over;
            product[k + part] = uaddCarry(product[k + part], lower, over);
            carry = upper + over;
        }
    }
    uint quadrant = product[5] >> 30;
    for (int k = 5; k > 0; --k) product[k] = (product[k] << 2) | (product[k - 1] >> 30);
    product[0] <<= 2;
    bool negative = (product[5] >> 31) != 0u;
    if (negative) {
        // Nearer to the next multiple: the fraction less 1.
        quadrant += 1u;
        uint carry = 1u;
        for (int k = 0; k < 6; ++k) product[k] = uaddCarry(~product[k], carry, carry);
    }
    precise double a = double(product[5]) * 2.3283064365386962890625e-10lf;
    precise double b = double(product[4]) * 5.42101086242752217003726400434970855712890625e-20lf;
    precise double c = double(product[3]) * 1.262177448353618888658765704452637783307e-29lf;
    precise double d = double(product[2]) * 2.938735877055718769921841343055614194547e-39lf;
    precise double s2 = c + d;
    precise double s1 = b + s2;
    precise double r1 = s2 - (s1 - b);
    precise double fraction = a + s1;
    precise double rest = (s1 - (fraction - a)) + r1;
    double p, e;
    exact_product(fraction, 1.57079632679489655800e+00lf, p, e);
    precise double low = e + (fraction * 6.12323399573676603587e-17lf + rest * 1.57079632679489655800e+00lf);
    precise double high = p + low;
    precise double left = low - (high - p);
    bool turned = negative != ((bits.y >> 31) != 0u);
    uint count = (bits.y >> 31) != 0u ? 4u - (quadrant & 3u) : quadrant;
    return Reduced(turned ? -high : high, turned ? -left : left, count & 3u);
}

Reduced reduce(double x) {
    if (abs(x) <= 0.78539816339744830962lf) return Reduced(x, 0.0lf, 0u);
    if (abs(x) >= 1048576.0lf) return reduce_large(x);
    double n = floor(x * 6.36619772367581382433e-01lf + 0.5lf);
    // Cody and Waite with pi/2 in three parts of 33 bits and a tail.
    precise double t1 = x - n * 1.57079632673412561417e+00lf;
    precise double w2 = n * 6.07710050630396597660e-11lf;
    precise double t2 = t1 - w2;
    precise double e2 = (t1 - t2) - w2;
    precise double w3 = n * 2.02226624871116645580e-21lf;
    precise double t3 = t2 - w3;
    precise double e3 = (t2 - t3) - w3;
    precise double tail = (e2 + e3) - n * 8.47842766036889956997e-32lf;
    precise double high = t3 + tail;
    precise double low = tail - (high - t3);
    return Reduced(high, low, uint(int(n)) & 3u);
}

double sine_near_zero(double x, double rest) {
    precise double z = x * x;
    precise double w = z * z;
    precise double r = 8.33333333332248946124e-03lf + z * (-1.98412698298579493134e-04lf + z * 2.75573137070700676789e-06lf)
        + z * w * (-2.50507602534068634195e-08lf + z * 1.58969099521155010221e-10lf);
    precise double v = z * x;
    precise double result = x - ((z * (0.5lf * rest - v * r) - rest) - v * -1.66666666666666324348e-01lf);
    return result;
}

double cosine_near_zero(double x, double rest) {
    precise double z = x * x;
    precise double w = z * z;
    precise double r = z * (4.16666666666666019037e-02lf + z * (-1.38888888888741095749e-03lf + z * 2.48015872894767294178e-05lf))
        + w * w * (-2.75573143513906633035e-07lf + z * (2.08757232129817482790e-09lf + z * -1.13596475577881948265e-11lf));
    precise double half_z = 0.5lf * z;
    precise double most = 1.0lf - half_z;
    precise double result = most + (((1.0lf - most) - half_z) + (z * r - x * rest));
    return result;
}

double gusset_sin(double x) {
    if (isnan(x) || isinf(x)) return NOT_A_NUMBER;
    if (abs(x) < 7.450580596923828125e-9lf) return x;
    Reduced r = reduce(x);
    double value = (r.quadrant & 1u) == 0u ? sine_near_zero(r.high, r.low) : cosine_near_zero(r.high, r.low);
    return (r.quadrant & 2u) == 0u ? value : -value;
}

double gusset_cos(double x) {
    if (isnan(x) || isinf(x)) return NOT_A_NUMBER;
    Reduced r = reduce(x);
    double value = (r.quadrant & 1u) == 0u ? cosine_near_zero(r.high, r.low) : sine_near_zero(r.high, r.low);
    return r.quadrant == 1u || r.quadrant == 2u ? -value : value;
}
