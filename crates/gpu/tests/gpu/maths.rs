//! Accuracy of `shaders/lib/math.glsl`: units in the last place away from Rust, over a million arguments each.

use crate::device::device;
use gusset_energy::check::Random;
use gusset_gpu::vulkan::{Array, Kernel, Stream};
use gusset_gpu::{compile, source};

const COUNT: usize = 1_000_000;

const SPECIAL: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    f64::MAX,
    -f64::MAX,
    1e-300,
    std::f64::consts::PI,
];

/// Runs function `which` of the kernel on all pairs.
struct Runner {
    stream: Stream,
    kernel: Kernel,
}

impl Runner {
    fn run(&mut self, which: u32, x: &[f64], y: &[f64]) -> Vec<f64> {
        let device = self.stream.device().clone();
        let arrays: [Array<f64>; 3] =
            std::array::from_fn(|_| Array::new(&device, x.len()).unwrap());
        let mut to = self.stream.begin().unwrap();
        to.upload(&arrays[0], 0, x).unwrap();
        to.upload(&arrays[1], 0, y).unwrap();
        to.barrier().unwrap();
        let bindings: Vec<_> = arrays.iter().map(Array::whole).collect();
        to.dispatch(&self.kernel, &bindings, &[x.len() as u32, which], x.len()).unwrap();
        to.barrier().unwrap();
        let ticket = to.download(&arrays[2], 0..x.len()).unwrap();
        to.submit().unwrap();
        ticket.to_vec().unwrap()
    }
}

/// Distance on the line of doubles; 0 for two that are not numbers.
fn ulps(a: f64, b: f64) -> u64 {
    if a.is_nan() && b.is_nan() || a == b && (a != 0.0 || a.to_bits() == b.to_bits()) {
        return 0;
    }
    if a.is_nan() != b.is_nan() {
        return u64::MAX;
    }
    let line = |v: f64| {
        let bits = v.to_bits().cast_signed();
        if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
    };
    if a == b { 1 } else { line(a).abs_diff(line(b)) }
}

/// Finite doubles with any exponent within two powers of ten and any sign.
fn spread(random: &mut Random, low: f64, high: f64, signed: bool) -> f64 {
    let size = 10_f64.powf(random.within(low, high));
    if signed && random.within(0.0, 1.0) < 0.5 { -size } else { size }
}

fn arguments(mut draw: impl FnMut(&mut Random) -> f64) -> Vec<f64> {
    let mut random = Random::new(5);
    let mut all = SPECIAL.to_vec();
    all.extend((all.len()..COUNT).map(|_| draw(&mut random)));
    all
}

#[test]
fn functions_are_within_their_bound_of_rust() {
    let Some(checked) = device() else { return };
    let source = source::kernel("math");
    let spirv = compile::spirv(&source, &checked.device.info().name).unwrap();
    let kernel = Kernel::new(&checked.device, "math", &spirv, 3, 64, &[]).unwrap();
    let mut runner = Runner { stream: Stream::new(&checked.device).unwrap(), kernel };
    let tau = std::f64::consts::TAU;
    let ones = vec![1.0; COUNT];
    let mut check = |name: &str, which: u32, bound: u64, x: Vec<f64>, exact: fn(f64) -> f64| {
        let found = runner.run(which, &x, &ones);
        let (mut worst, mut at, mut differ) = (0, 0.0, 0);
        for (&x, &found) in x.iter().zip(&found) {
            let off = ulps(found, exact(x));
            differ += u32::from(off > 0);
            if off > worst {
                (worst, at) = (off, x);
            }
        }
        eprintln!("{name}: within {worst} ulp, {:.3} % differ", f64::from(differ) * 1e-4);
        assert!(worst <= bound, "{name} of {at:e} is off by {worst} ulp");
    };
    check("log, all sizes", 0, 1, arguments(|r| spread(r, -323.0, 308.0, false)), f64::ln);
    check("log, near 1", 0, 1, arguments(|r| 1.0 + spread(r, -16.0, -0.4, true)), f64::ln);
    check("log, subnormal", 0, 1, arguments(|r| spread(r, -323.6, -307.7, false)), f64::ln);
    check("log1p, all sizes", 1, 1, arguments(|r| spread(r, -323.0, 308.0, false)), f64::ln_1p);
    check("log1p, small", 1, 1, arguments(|r| spread(r, -18.0, -0.01, true)), f64::ln_1p);
    check("exp, all", 2, 1, arguments(|r| r.within(-746.0, 710.0)), f64::exp);
    check("exp, small", 2, 1, arguments(|r| spread(r, -18.0, 0.5, true)), f64::exp);
    check("sin, a few turns", 3, 1, arguments(|r| r.within(-4.0, 4.0) * 6.3), f64::sin);
    check("sin, all sizes", 3, 1, arguments(|r| spread(r, -323.0, 308.0, true)), f64::sin);
    check("cos, a few turns", 4, 1, arguments(|r| r.within(-4.0, 4.0) * 6.3), f64::cos);
    check("cos, all sizes", 4, 1, arguments(|r| spread(r, -323.0, 308.0, true)), f64::cos);
    let multiples = arguments(move |r| (r.within(0.0, 1e9).floor() * 0.25) * tau);
    check("sin, near multiples of pi/2", 3, 1, multiples.clone(), f64::sin);
    check("cos, near multiples of pi/2", 4, 1, multiples, f64::cos);
    check("sqrt", 6, 0, arguments(|r| spread(r, -323.0, 308.0, false)), f64::sqrt);

    for (name, low, high) in
        [("one", -1.0, 1.0), ("all sizes", -323.0, 308.0), ("subnormal", -323.6, -307.7)]
    {
        let mut random = Random::new(9);
        let mut pairs: Vec<(f64, f64)> =
            SPECIAL.iter().flat_map(|y| SPECIAL.iter().map(|x| (*y, *x))).collect();
        pairs.extend(
            (pairs.len()..COUNT).map(|_| {
                (spread(&mut random, low, high, true), spread(&mut random, low, high, true))
            }),
        );
        let (y, x): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        for (what, which, bound, exact) in [
            ("atan2", 5, 1, f64::atan2 as fn(f64, f64) -> f64),
            ("division", 7, 0, |a: f64, b: f64| a / b),
        ] {
            let found = runner.run(which, &y, &x);
            let off = (0..COUNT).map(|k| ulps(found[k], exact(y[k], x[k]))).max().unwrap();
            eprintln!("{what}, {name}: within {off} ulp");
            assert!(off <= bound, "{what}, {name} is off by {off} ulp");
        }
    }
}
