//! The expected cost of a packet, in packet times of waiting (§II-B).
//!
//! | paper | here |
//! |---|---|
//! | Eq. (6), as in its worked example | [`Form::Example`] |
//! | Eq. (6), as printed | [`Form::Printed`] |
//! | first term of Eq. (3), k = n | [`Form::OneTerm`] |
//! | E - D + 1 | m, [`Queue::m`] |
//!
//! C_FEC = sum of 1 - p_l over B..D, + (m + o) (Q + 1) / (1 - eps);
//! C_ORIG = sum of 1 - p_l over B..=D, + (m + o - 1) Q / (1 - eps); with p and Q after the packet. As printed, the
//! offset o is 0; all four numbers of §II-E need 1.

use super::decodability::Decodability;
use super::{ParameterError, Queue, parameter};

/// The form of the waiting term.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// Eq. (6) with the offset that the worked example of §II-E needs.
    #[default]
    Example,
    /// Eq. (6) to the letter.
    Printed,
    /// One packet time for each original that is not decodable: the part of Eq. (3) for the next packet time alone.
    OneTerm,
}

/// The cost function.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// The form of the waiting term.
    pub form: Form,
    /// The weight of the second term of Eq. (6), 1 in the paper. Positive.
    pub kappa: f64,
}

impl Default for Cost {
    fn default() -> Cost {
        Cost { form: Form::Example, kappa: 1.0 }
    }
}

const NAMES: &[&str] = &["cost", "kappa"];

impl Cost {
    /// Sets `cost` to `example`, `printed` or `one-term`, or `kappa` to a number.
    ///
    /// # Errors
    /// There is no such parameter, or no such value of it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        match parameter::known(name, NAMES)? {
            "cost" => self.form = Form::of(value)?,
            _ => self.kappa = parameter::number("kappa", value)?,
        }
        Ok(())
    }

    /// Checks that the values are valid.
    ///
    /// # Errors
    /// kappa is not positive, or is set with the one-term form, which has no second term.
    pub fn check(&self) -> Result<(), ParameterError> {
        parameter::within("kappa", self.kappa, parameter::positive(1e6))?;
        if self.form == Form::OneTerm && self.kappa != 1.0 {
            return Err(ParameterError::Refused(
                "kappa belongs to Eq. (6); do not set it with cost=one-term".to_owned(),
            ));
        }
        Ok(())
    }

    /// C_ORIG: the cost of sending the original D, from `now`, evaluated for `queue` with weights of one.
    pub fn of_new(&self, queue: &Queue, now: &Decodability, eps: f64) -> f64 {
        now.undecoded() + 1.0 - now.p_new() + self.waiting(queue.m() as f64 - 1.0, now.q_new(), eps)
    }

    /// C_FEC: the cost of a combination of B..=B + `nth`.
    pub fn of_repair(&self, queue: &Queue, now: &Decodability, eps: f64, nth: usize) -> f64 {
        now.undecoded() - now.gain(nth) + self.waiting(queue.m() as f64, now.q_repaired(nth) + 1.0, eps)
    }

    /// The waiting of `count` unsent originals, if each waits for `needed` packets to arrive.
    fn waiting(&self, count: f64, needed: f64, eps: f64) -> f64 {
        match self.form {
            Form::Example => self.kappa * (count + 1.0) * needed / (1.0 - eps),
            Form::Printed => self.kappa * count * needed / (1.0 - eps),
            Form::OneTerm => count,
        }
    }
}

impl Form {
    fn of(value: &str) -> Result<Form, ParameterError> {
        match value {
            "example" => Ok(Form::Example),
            "printed" => Ok(Form::Printed),
            "one-term" => Ok(Form::OneTerm),
            _ => Err(ParameterError::Value {
                name: "cost",
                value: value.to_owned(),
                expected: "example, printed or one-term",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Coded;
    use super::super::channel::Channel;
    use super::*;

    /// C_FEC over everything sent and C_ORIG of §II-E: eps = .1, `n` originals in flight once, `m` unsent.
    fn example(form: Form, n: usize, m: usize) -> [f64; 2] {
        let mut queue = Queue::standing(1, n, m);
        (1..=n as u64).for_each(|l| queue.sent(&Coded { first: l, last: l, p_useless: 0.0 }));
        let mut now = Decodability::default();
        now.evaluate(&queue, &Channel::independent(0.1), |_| 1.0);
        let cost = Cost { form, kappa: 1.0 };
        [cost.of_repair(&queue, &now, 0.1, n - 1), cost.of_new(&queue, &now, 0.1)].map(|c| libm::round(c * 1e4) / 1e4)
    }

    #[test]
    fn costs_equal_the_four_numbers_of_the_paper() {
        assert_eq!(example(Form::Example, 4, 2), [3.8838, 2.4255]);
        assert_eq!(example(Form::Example, 10, 1), [5.3622, 6.0465]);
    }

    /// The same by Eq. (6) as printed, computed by hand from p and Q of the example.
    #[test]
    fn printed_form_makes_the_same_decisions() {
        assert_eq!(example(Form::Printed, 4, 2), [2.6721, 1.87]);
        assert_eq!(example(Form::Printed, 10, 1), [3.7913, 4.8243]);
    }

    /// 4 - 3.7511 + 2 against 5 - 3.6856 + 1, with the printed digits of p.
    #[test]
    fn the_first_term_alone_prefers_repair() {
        let [repair, new] = example(Form::OneTerm, 4, 2);
        assert!((repair - 2.2489).abs() < 2.5e-4 && (new - 2.3144).abs() < 2.5e-4, "{repair}, {new}");
    }

    #[test]
    fn one_term_form_refuses_kappa() {
        let mut cost = Cost::default();
        cost.set("cost", "one-term").expect("there is such a form");
        assert!(cost.check().is_ok());
        cost.set("kappa", "0.2").expect("a number");
        assert!(cost.check().is_err());
        assert!(cost.set("cost", "eq6").is_err());
        assert!(cost.set("offset", "1").is_err());
    }
}
