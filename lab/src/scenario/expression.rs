//! Arithmetic in scenarios: `= (rtt_ms / 2 - 2) ms`.
//!
//! ```text
//! text    = "=" sum [unit]
//! sum     = product { ("+" | "-") product }
//! product = sign { ("*" | "/") sign }
//! sign    = { "-" } atom
//! atom    = number | name | function "(" sum { "," sum } ")" | "(" sum ")"
//! ```
//!
//! Functions: `min` and `max` of any number of values, `floor`, and `if(a, b, c)`: b, or c where a is 0 or false.

use super::value::Value;

/// The value of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Outcome {
    /// A bare value.
    Bare(Value),
    /// A number and the unit behind it.
    WithUnit(f64, String),
}

/// The maximum nesting of brackets and signs.
const DEEPEST: u32 = 50;

/// Evaluates the expression `text`, without its "="; `named` looks up the parameters.
pub(super) fn evaluate(text: &str, named: &dyn Fn(&str) -> Result<Value, String>) -> Result<Outcome, String> {
    let mut reader = Reader { rest: text, named, depth: 0 };
    let value = reader.sum()?;
    let unit = reader.rest.trim();
    match value {
        _ if !unit.chars().all(|c| c.is_ascii_alphabetic()) => Err(reader.expected("an operator, a unit or the end")),
        Value::Number(number) if !number.is_finite() => Err(format!("'{}' is not a finite number", text.trim())),
        value if unit.is_empty() => Ok(Outcome::Bare(value)),
        Value::Number(number) => Ok(Outcome::WithUnit(number, unit.to_owned())),
        other => Err(format!("'{other}' is {} and cannot have the unit '{unit}'", other.kind())),
    }
}

struct Reader<'a> {
    rest: &'a str,
    named: &'a dyn Fn(&str) -> Result<Value, String>,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn sum(&mut self) -> Result<Value, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.one_of(&['+', '-']) {
            let (left, right) = (number(&value)?, number(&self.product()?)?);
            value = Value::Number(if sign == '+' { left + right } else { left - right });
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<Value, String> {
        let mut value = self.sign()?;
        while let Some(sign) = self.one_of(&['*', '/']) {
            let (left, right) = (number(&value)?, number(&self.sign()?)?);
            value = Value::Number(if sign == '*' { left * right } else { left / right });
        }
        Ok(value)
    }

    fn sign(&mut self) -> Result<Value, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("more than {DEEPEST} nested brackets and signs"));
        }
        let value = match self.one_of(&['-']) {
            Some(_) => Value::Number(-number(&self.sign()?)?),
            None => self.atom()?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn atom(&mut self) -> Result<Value, String> {
        if self.one_of(&['(']).is_some() {
            let value = self.sum()?;
            return self.one_of(&[')']).map(|_| value).ok_or_else(|| self.expected("')'"));
        }
        let digits = self.word(|c| c.is_ascii_digit() || c == '.');
        if !digits.is_empty() {
            return digits.parse().map(Value::Number).map_err(|_| format!("'{digits}' is not a number"));
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if name.is_empty() {
            return Err(self.expected("a number, a name or '('"));
        }
        if self.one_of(&['(']).is_none() {
            return (self.named)(name);
        }
        let mut arguments = vec![self.sum()?];
        while self.one_of(&[',']).is_some() {
            arguments.push(self.sum()?);
        }
        self.one_of(&[')']).ok_or_else(|| self.expected("',' or ')'"))?;
        call(name, arguments)
    }

    /// Consumes the next character if it is one of `wanted`.
    fn one_of(&mut self, wanted: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let found = rest.chars().next().filter(|c| wanted.contains(c))?;
        self.rest = &rest[found.len_utf8()..];
        Some(found)
    }

    /// Consumes the next characters as far as they satisfy `belongs`.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest.trim_start();
        let (word, rest) = rest.split_at(rest.find(|c| !belongs(c)).unwrap_or(rest.len()));
        self.rest = rest;
        word
    }

    fn expected(&self, what: &str) -> String {
        match self.rest.trim() {
            "" => format!("expected {what}, found the end"),
            rest => format!("expected {what} at '{}'", rest.chars().take(20).collect::<String>()),
        }
    }
}

fn call(name: &str, mut arguments: Vec<Value>) -> Result<Value, String> {
    let folded = |fold: fn(f64, f64) -> f64| -> Result<Value, String> {
        let first = number(&arguments[0])?;
        arguments[1..].iter().try_fold(first, |least, next| Ok(fold(least, number(next)?))).map(Value::Number)
    };
    match (name, arguments.len()) {
        ("min", _) => folded(f64::min),
        ("max", _) => folded(f64::max),
        ("floor", 1) => Ok(Value::Number(number(&arguments[0])?.floor())),
        ("if", 3) => {
            let holds = arguments[0] != Value::Flag(false) && arguments[0] != Value::Number(0.0);
            Ok(arguments.swap_remove(if holds { 1 } else { 2 }))
        }
        ("floor" | "if", count) => Err(format!("{name}() with {count} values, expected floor(a) or if(a, b, c)")),
        _ => Err(format!("no function '{name}', expected min, max, floor or if")),
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => Ok(*number),
        other => Err(format!("'{other}' is {}, expected a number", other.kind())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn value(text: &str) -> Result<Outcome, String> {
        evaluate(text, &|name| match name {
            "rtt_ms" => Ok(Value::Number(10.0)),
            "scheme" => Ok(Value::Text("geneva".into())),
            "quick" => Ok(Value::Flag(false)),
            other => Err(format!("no parameter '{other}'")),
        })
    }

    #[test]
    fn arithmetic_is_that_of_school() {
        for (text, expected) in [
            (" 1 + 2 * 3 - 4 / 8", 6.5),
            ("(1 + 2) * 3", 9.0),
            ("8 / 2 / 2", 2.0),
            ("2 - 3 - 4", -5.0),
            ("--2 * -rtt_ms", -20.0),
            ("min(rtt_ms, 3, 4) + max(1, 2)", 5.0),
            ("floor(1000 * rtt_ms / 12)", 833.0),
            ("if(rtt_ms - 10, 1, 2) + if(quick, 10, if(scheme, 20, 30))", 22.0),
        ] {
            assert_eq!(value(text), Ok(Outcome::Bare(Value::Number(expected))), "{text}");
        }
    }

    #[test]
    fn a_unit_may_follow_a_number_and_text_is_used_whole() {
        assert_eq!(value("(rtt_ms/2 - 2) ms"), Ok(Outcome::WithUnit(3.0, "ms".into())));
        assert_eq!(value("rtt_ms ms"), Ok(Outcome::WithUnit(10.0, "ms".into())));
        assert_eq!(value("30mbit"), Ok(Outcome::WithUnit(30.0, "mbit".into())));
        assert_eq!(value("scheme"), Ok(Outcome::Bare(Value::Text("geneva".into()))));
        assert_eq!(value("if(quick, 1, scheme)"), Ok(Outcome::Bare(Value::Text("geneva".into()))));
    }

    #[test]
    fn faults_say_what_was_expected() {
        let deep = format!("{}1", "(".repeat(1_000));
        for (text, expected) in [
            ("", "expected a number, a name or '(', found the end"),
            ("1 +", "expected a number, a name or '(', found the end"),
            ("(1", "expected ')', found the end"),
            ("1 2", "expected an operator, a unit or the end at '2'"),
            ("1.2.3", "'1.2.3' is not a number"),
            ("rtt", "no parameter 'rtt'"),
            ("sqrt(2)", "no function 'sqrt', expected min, max, floor or if"),
            ("floor(1, 2)", "floor() with 2 values"),
            ("1 / (rtt_ms - 10)", "'1 / (rtt_ms - 10)' is not"),
            ("scheme + 1", "'geneva' is text, expected a number"),
            ("scheme ms", "'geneva' is text and cannot"),
            (&deep, "more than 50 nested brackets"),
        ] {
            let seen = value(text).expect_err(text);
            assert!(seen.starts_with(expected), "{text}: {seen}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_an_error(text in "[-+*/(), .0-9a-z_é]{0,60}") {
            let _ = value(&text);
        }

        #[test]
        fn sums_of_products_are_those_of_rust(a in 0u32..1000, b in 0u32..1000, c in 1u32..1000, d in 0u32..1000) {
            let expected = f64::from(a) + f64::from(b) / f64::from(c) - 2.0 * f64::from(d);
            let expected = Outcome::Bare(Value::Number(expected));
            prop_assert_eq!(value(&format!("{a} + {b}/{c} - 2*{d}")), Ok(expected.clone()));
            prop_assert_eq!(value(&format!("(({a})+(({b}) / {c})) - (2 * {d})")), Ok(expected));
        }
    }
}
