// Sums that keep their rounding error: an unevaluated high + low.
//
// CPU twin: `Compensated` in crates/system/src/sum.rs

struct Sum {
    double high;
    double low;
};

Sum sum_of(Sum a, Sum b) {
    precise double s = a.high + b.high;
    precise double t = s - a.high;
    precise double e = (a.high - (s - t)) + (b.high - t);
    precise double low = e + a.low + b.low;
    return Sum(s, low);
}
