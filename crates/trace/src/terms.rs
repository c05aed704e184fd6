//! How large the terms are that a tape's outputs are made of: the scale on which two evaluations may differ by rounding.

use crate::tape::{Op, Tape};

/// A value with the largest term that went into it.
///
/// Of a sum that is the larger of its operands' terms; a product, a quotient or a function passes its operands' terms on as a
/// change of that size would pass through it. So a term has the unit of its value, `(a + b) - a` has a term of the size of `a`,
/// and roundings of the operands show in the value as so many roundings of the term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Termed {
    /// The value, as [`Tape::run`] computes it.
    pub value: f64,
    /// The largest term, not less than the size of the value.
    pub term: f64,
}

impl Termed {
    fn new(value: f64) -> Self {
        Self { value, term: value.abs() }
    }

    /// A value whose operands pass on terms of these sizes.
    fn of(value: f64, terms: [f64; 2]) -> Self {
        Self { value, term: value.abs().max(terms[0]).max(terms[1]) }
    }

    fn neg(self) -> Self {
        Self { value: -self.value, ..self }
    }

    fn add(self, o: Self) -> Self {
        Self::of(self.value + o.value, [self.term, o.term])
    }

    fn sub(self, o: Self) -> Self {
        Self::of(self.value - o.value, [self.term, o.term])
    }

    fn mul(self, o: Self) -> Self {
        let passed = [self.term * o.value.abs(), self.value.abs() * o.term];
        Self::of(self.value * o.value, passed)
    }

    fn div(self, o: Self) -> Self {
        let value = self.value / o.value;
        Self::of(value, [(self.term / o.value).abs(), (value / o.value * o.term).abs()])
    }

    fn atan2(self, x: Self) -> Self {
        let (a, b) = (self.value, x.value);
        let squared = a * a + b * b;
        Self::of(a.atan2(b), [(b * self.term / squared).abs(), (a * x.term / squared).abs()])
    }

    /// A function of that value and slope.
    fn through(self, value: f64, slope: f64) -> Self {
        Self::of(value, [(slope * self.term).abs(), 0.0])
    }

    fn unary(self, op: Op) -> Self {
        let a = self.value;
        match op {
            Op::Neg => self.neg(),
            Op::Abs => Self { value: a.abs(), ..self },
            Op::Sqrt => self.through(a.sqrt(), 0.5 / a.sqrt()),
            Op::Ln => self.through(a.ln(), 1.0 / a),
            Op::Ln1p => self.through(a.ln_1p(), 1.0 / (1.0 + a)),
            Op::Exp => self.through(a.exp(), a.exp()),
            Op::Sin => self.through(a.sin(), a.cos()),
            Op::Cos => self.through(a.cos(), a.sin()),
            _ => unreachable!("{op:?} has more operands than one"),
        }
    }
}

impl Tape {
    /// Evaluates one element, with the largest term of every output. `registers` is scratch.
    ///
    /// For tests and studies of rounding: some twenty times slower than [`Tape::run`].
    ///
    /// # Panics
    ///
    /// If there are fewer inputs than [`Tape::inputs`] or other than [`Tape::outputs`] outputs.
    pub fn terms(&self, inputs: &[f64], registers: &mut Vec<Termed>, outputs: &mut [Termed]) {
        assert!(inputs.len() >= self.inputs, "a tape gets all the inputs it reads");
        assert_eq!(outputs.len(), self.stores.len(), "a tape gets room for all its outputs");
        let at = |start: u16| start as usize / crate::LANES;
        registers.clear();
        registers.extend(self.constants.iter().map(|&c| Termed::new(c)));
        registers.extend(self.loads.iter().map(|&input| Termed::new(inputs[input as usize])));
        registers.resize(self.registers.max(registers.len()), Termed::default());
        let mut code = self.code.as_slice();
        for run in &self.runs {
            let (mut words, rest) = code.split_at(run.words as usize);
            code = rest;
            while let [[to, operands @ ..], tail @ ..] = words {
                words = tail;
                let [a, b, c] = operands.map(|start| registers.get(at(start)).copied());
                let known = |x: Option<Termed>| x.expect("an operand is in a register");
                registers[at(*to)] = match run.op {
                    Op::MulAdd => known(a).mul(known(b)).add(known(c)),
                    Op::MulSub => known(a).mul(known(b)).sub(known(c)),
                    Op::SubMul => known(c).sub(known(a).mul(known(b))),
                    Op::NegMul => known(a).mul(known(b)).neg(),
                    Op::Mul => known(a).mul(known(b)),
                    Op::Add => known(a).add(known(b)),
                    Op::Sub => known(a).sub(known(b)),
                    Op::Div => known(a).div(known(b)),
                    Op::Atan2 => known(a).atan2(known(b)),
                    Op::Select => {
                        let ([d, ..], after) = tail.split_first().expect("it takes two words");
                        words = after;
                        let other = registers[at(*d)];
                        if known(a).value < known(b).value { known(c) } else { other }
                    }
                    op => known(a).unary(op),
                };
            }
        }
        for (output, &register) in outputs.iter_mut().zip(&self.stores) {
            *output = registers[at(register)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, LANES, Registers, Sym};
    use gusset_scalar::Scalar as _;

    fn term(inputs: &[f64], f: impl for<'g> Fn(&[Sym<'g>]) -> Sym<'g>) -> Termed {
        let graph = Graph::new();
        let v = graph.inputs(inputs.len() as u32);
        let tape = Tape::new(&graph, &[f(&v)]);
        let mut found = [Termed::default()];
        tape.terms(inputs, &mut Vec::new(), &mut found);
        // The value is the program's.
        let lanes: Vec<_> = inputs.iter().map(|&x| [x; LANES]).collect();
        let mut expected = [[0.0; LANES]];
        tape.run(&lanes, &mut Registers::new(), &mut expected);
        assert_eq!(found[0].value.to_bits(), expected[0][0].to_bits());
        found[0]
    }

    #[test]
    fn what_cancels_is_remembered_in_the_unit_of_the_result() {
        let sum = term(&[1e6, 1.0, 3.0], |v| ((v[0] + v[1]) - v[0]) * v[2]);
        assert_eq!((sum.value, sum.term), (3.0, 3e6 + 3.0));
        let quotient = term(&[1e6, 1.0], |v| ((v[0] + v[1]) - v[0]) / v[1]);
        assert_eq!(quotient.term, 1e6 + 1.0);
        // The slope of the root at 1e6, of a term of 2e6.
        let root = term(&[1e6, 1e6], |v| (v[0] + v[1] - v[0]).sqrt());
        assert_eq!((root.value, root.term), (1e3, 1e3));
        let root = term(&[1e6, 1.0], |v| (v[0] + v[1] - v[0]).sqrt());
        assert_eq!(root.term, 0.5 * (1e6 + 1.0));
    }

    #[test]
    fn only_the_side_that_is_chosen_counts() {
        let side = |inputs: &[f64]| term(inputs, |v| Sym::select_lt(v[0], v[1], v[0], v[1] * 1e9));
        assert_eq!(side(&[1.0, 2.0]).term, 1.0);
        assert_eq!(side(&[2.0, 1.0]).term, 1e9);
    }

    #[test]
    fn functions_pass_terms_on_by_their_slope() {
        let angle = term(&[3.0, 4.0], |v| v[0].atan2(v[1]));
        assert_eq!(angle.term, (3.0_f64).atan2(4.0));
        let angle = term(&[3.0, 4.0, 1e3], |v| (v[0] + v[2] - v[2]).atan2(v[1]));
        assert_eq!(angle.term, 4.0 * 1003.0 / 25.0);
        let log = term(&[0.25, 1e3], |v| (v[0] + v[1] - v[1]).ln_1p());
        assert_eq!(log.term, 1000.25 / 1.25);
        assert_eq!(
            term(&[2.0], |v| v[0].exp() - v[0].sin() - v[0].cos()).term,
            2.0 * 2.0_f64.exp()
        );
    }
}
