//! The text form of a quantity: a number, or a fraction, and a unit.

/// Exponents of mass, length and time.
pub(crate) type Dimension = [i8; 3];

/// A unit as a factor to SI: `factor * 10^decade` in kilogram, metre, second.
///
/// The power of ten is kept apart so that it can be applied to the digits before they are rounded
/// to a double: `"0.030 mm"` must be the same number as `30e-6`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit {
    factor: f64,
    decade: i32,
    pub(crate) dimension: Dimension,
}

impl Unit {
    const ONE: Self = Self { factor: 1.0, decade: 0, dimension: [0; 3] };

    fn power(self, exponent: i8) -> Option<Self> {
        let mut dimension = self.dimension;
        for d in &mut dimension {
            *d = d.checked_mul(exponent)?;
        }
        Some(Self {
            factor: self.factor.powi(i32::from(exponent)),
            decade: self.decade * i32::from(exponent),
            dimension,
        })
    }

    fn times(self, other: Self) -> Option<Self> {
        let mut dimension = self.dimension;
        for (d, o) in dimension.iter_mut().zip(other.dimension) {
            *d = d.checked_add(o)?;
        }
        Some(Self {
            factor: self.factor * other.factor,
            decade: self.decade + other.decade,
            dimension,
        })
    }

    /// `value` of this unit in SI.
    pub(crate) fn to_si(self, value: f64) -> f64 {
        let value = value * self.factor;
        let power = 10f64.powi(self.decade.abs());
        if self.decade < 0 { value / power } else { value * power }
    }

    /// A number of this unit in SI, rounded once where the unit is a power of ten.
    pub(crate) fn read(self, number: &Number<'_>) -> f64 {
        if let Some(divisor) = number.divisor {
            return self.to_si(number.value / divisor);
        }
        let digits = number.digits;
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        exponent
            .parse::<i32>()
            .ok()
            .and_then(|e| format!("{mantissa}e{}", e.checked_add(self.decade)?).parse().ok())
            .map_or_else(|| self.to_si(number.value), |value: f64| value * self.factor)
    }
}

/// The number that a quantity begins with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number<'a> {
    digits: &'a str,
    value: f64,
    /// Of a fraction, such as 240 in `1/240 s`.
    divisor: Option<f64>,
}

/// What is wrong with a quantity written as text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text does not begin with a number.
    #[error(
        "`{text}` does not begin with a number; write a number and its unit, like \"{example}\""
    )]
    NoNumber {
        /// The text as found.
        text: String,
        /// A text that would be right.
        example: String,
    },
    /// The number is infinite or not a number.
    #[error("`{text}` is not a finite number")]
    NotFinite {
        /// The text as found.
        text: String,
    },
    /// A unit symbol that is not known.
    #[error("unknown unit `{symbol}` in `{text}`; known are {KNOWN}")]
    UnknownUnit {
        /// The symbol that is not known.
        symbol: String,
        /// The text as found.
        text: String,
    },
    /// The unit measures something else.
    #[error("`{text}` has the wrong dimension: expected a quantity in {expected}, found {found}")]
    Dimension {
        /// The text as found.
        text: String,
        /// The SI unit wanted.
        expected: String,
        /// The SI unit of what was found.
        found: String,
    },
}

const KNOWN: &str = "m, g, s, N, Pa, J, Hz, dyn, erg, bar, t, min, h, rad, deg, % and their SI \
                     prefixes, combined with `*`, `/` and `^`";

/// Units by symbol: factor, decade, exponents of (mass, length, time), whether prefixes apply.
const SYMBOLS: &[(&str, f64, i32, Dimension, bool)] = &[
    ("1", 1.0, 0, [0, 0, 0], false),
    ("%", 1.0, -2, [0, 0, 0], false),
    ("rad", 1.0, 0, [0, 0, 0], false),
    ("deg", std::f64::consts::PI / 180.0, 0, [0, 0, 0], false),
    ("min", 60.0, 0, [0, 0, 1], false),
    ("h", 3600.0, 0, [0, 0, 1], false),
    ("t", 1.0, 3, [1, 0, 0], false),
    ("dyn", 1.0, -5, [1, 1, -2], false),
    ("erg", 1.0, -7, [1, 2, -2], false),
    ("bar", 1.0, 5, [1, -1, -2], false),
    ("m", 1.0, 0, [0, 1, 0], true),
    ("g", 1.0, -3, [1, 0, 0], true),
    ("s", 1.0, 0, [0, 0, 1], true),
    ("N", 1.0, 0, [1, 1, -2], true),
    ("Pa", 1.0, 0, [1, -1, -2], true),
    ("J", 1.0, 0, [1, 2, -2], true),
    ("Hz", 1.0, 0, [0, 0, -1], true),
];

const PREFIXES: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("\u{b5}", -6),  // micro sign
    ("\u{3bc}", -6), // Greek mu, which looks the same
    ("m", -3),
    ("c", -2),
    ("d", -1),
    ("k", 3),
    ("M", 6),
    ("G", 9),
];

/// One symbol such as `mm` or `MPa`. Whole symbols win over prefixed ones: `min` is a minute.
fn symbol(text: &str) -> Option<Unit> {
    let known = |text: &str, prefixed: bool| {
        SYMBOLS.iter().find(|s| s.0 == text && (s.4 || !prefixed)).map(|s| Unit {
            factor: s.1,
            decade: s.2,
            dimension: s.3,
        })
    };
    known(text, false).or_else(|| {
        PREFIXES.iter().find_map(|(prefix, decade)| {
            let unit = known(text.strip_prefix(prefix)?, true)?;
            Some(Unit { decade: unit.decade + decade, ..unit })
        })
    })
}

/// A product of powers of symbols: `kg/m^3`, `N m`, `m s^-2`, `1/s`. Each `/` divides by the one
/// factor that follows it.
pub(crate) fn unit(text: &str) -> Result<Unit, String> {
    let mut total = Unit::ONE;
    let mut rest = text.trim();
    let mut sign = 1i8;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '*' || c == '\u{b7}');
        if let Some(after) = rest.strip_prefix('/') {
            if sign < 0 {
                return Err(rest.to_owned());
            }
            sign = -1;
            rest = after;
            continue;
        }
        if rest.is_empty() {
            return if sign > 0 { Ok(total) } else { Err("/".to_owned()) };
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '*' | '\u{b7}' | '/'))
            .unwrap_or(rest.len());
        let (factor, after) = rest.split_at(end);
        let (name, exponent) = match factor.split_once('^') {
            Some((name, power)) => (name, power.parse::<i8>().ok()),
            None => match factor.strip_suffix(['\u{b2}', '\u{b3}']) {
                Some(name) => (name, Some(if factor.ends_with('\u{b2}') { 2 } else { 3 })),
                None => (factor, Some(1)),
            },
        };
        let next = exponent
            .filter(|e| (-9..=9).contains(e))
            .zip(symbol(name))
            .and_then(|(e, u)| u.power(e * sign))
            .and_then(|u| total.times(u));
        total = next.ok_or_else(|| factor.to_owned())?;
        sign = 1;
        rest = after;
    }
}

/// Length of the number that `text` begins with, in bytes; 0 when there is none.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = digits(sign);
    let mut any = end > sign;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        any |= after > end + 1;
        end = after;
    }
    if !any {
        return 0;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    end
}

/// A number or a fraction of two (`1/240`), and what follows it.
pub(crate) fn number(text: &str) -> Option<(Number<'_>, &str)> {
    let (digits, rest) = text.split_at(number_length(text));
    let number = Number { digits, value: digits.parse().ok()?, divisor: None };
    if let Some(after) = rest.strip_prefix('/') {
        let (digits, rest) = after.split_at(number_length(after));
        if let Ok(divisor) = digits.parse::<f64>() {
            return Some((Number { divisor: Some(divisor), ..number }, rest));
        }
    }
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_with_and_without_prefix() {
        assert_eq!(symbol("kg").unwrap().to_si(1.0), 1.0);
        assert_eq!(symbol("mm").unwrap().to_si(7.0), 7e-3);
        assert_eq!(symbol("min").unwrap().to_si(2.0), 120.0);
        assert_eq!(symbol("MPa").unwrap().to_si(315.0), 315e6);
        assert_eq!(symbol("\u{b5}m"), symbol("um"));
        assert_eq!(symbol("kmin"), None);
        assert_eq!(symbol("furlong"), None);
    }

    #[test]
    fn products_powers_and_quotients() {
        let density = unit("kg/m^3").unwrap();
        assert_eq!(density.dimension, [1, -3, 0]);
        assert_eq!(density.to_si(925.0), 925.0);
        assert_eq!(unit("g/cm^3").unwrap().to_si(1.0), 1000.0);
        assert_eq!(unit("1/s").unwrap().dimension, [0, 0, -1]);
        assert_eq!(unit("/s"), unit("s^-1"));
        assert_eq!(unit("N m"), unit("N*m"));
        assert_eq!(unit("m/s\u{b2}"), unit("m s^-2"));
        for bad in ["m/", "m//s", "m^", "m^x", "m^200", "kg/q"] {
            assert!(unit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numbers_end_where_the_unit_begins() {
        let read = |text| number(text).map(|(n, rest)| (n.value, n.divisor, rest));
        assert_eq!(read("-12 1/s"), Some((-12.0, None, " 1/s")));
        assert_eq!(read("1/240 s"), Some((1.0, Some(240.0), " s")));
        assert_eq!(read("1/s"), Some((1.0, None, "/s")));
        assert_eq!(read("3e-5m"), Some((3e-5, None, "m")));
        assert_eq!(read("3erg"), Some((3.0, None, "erg")));
        assert_eq!(read(".5"), Some((0.5, None, "")));
        assert_eq!(number("-"), None);
        assert_eq!(number("mm"), None);
    }
}
