//! The parameters of a scenario: their values in its file, the command line's settings in place of these, and every
//! expression of the file that uses them.

use core::ops::Range;
use std::borrow::Cow;
use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::expression::{Outcome, evaluate};
use super::fault::Fault;
use super::section::Section;
use super::value::Value;

/// A parameter and its value in this run.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value in this run: the setting, or the file's default.
    pub value: Value,
    /// True if it was set.
    pub set: bool,
}

/// The setting that stands for the default of a parameter, as if it had not been set.
const AUTO: &str = "auto";

/// The parameters of `[parameters]`, in the order of the file, with `settings` in place of their defaults; of two
/// settings of one name the last counts.
pub(super) fn read(section: Option<Section<'_>>, settings: &[(String, String)]) -> Result<Vec<Parameter>, Fault> {
    let mut entries: Vec<_> = section.map(|section| section.table.into_iter().collect()).unwrap_or_default();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut parameters: Vec<Parameter> = Vec::new();
    for (name, value) in entries {
        if !is_name(name.get_ref()) {
            let why =
                format!("'{}' is not a parameter name, expected a letter, then letters, digits and _", name.get_ref());
            return Err(Fault::at(&name.span(), why));
        }
        let default = default(&value, &parameters)?;
        let name = name.into_inner().into_owned();
        let setting = settings.iter().rfind(|(set, text)| *set == name && text != AUTO);
        let value = match setting {
            Some((_, text)) => default.read(text).ok_or_else(|| {
                Fault::of_settings(format!("{name} = '{text}', expected {}, such as {default}", default.kind()))
            })?,
            None => default,
        };
        parameters.push(Parameter { name, value, set: setting.is_some() });
    }
    match settings.iter().find(|(set, _)| parameters.iter().all(|known| known.name != *set)) {
        Some((unknown, _)) if parameters.is_empty() => {
            Err(Fault::of_settings(format!("unknown parameter '{unknown}', the scenario has none")))
        }
        Some((unknown, _)) => {
            let known: Vec<&str> = parameters.iter().map(|known| &*known.name).collect();
            Err(Fault::of_settings(format!("unknown parameter '{unknown}', expected one of {}", known.join(", "))))
        }
        None => Ok(parameters),
    }
}

/// True if expressions can use the name.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn default(value: &Spanned<DeValue<'_>>, before: &[Parameter]) -> Result<Value, Fault> {
    let refuse = |why: String| Fault::at(&value.span(), why);
    match value.get_ref() {
        DeValue::Boolean(flag) => Ok(Value::Flag(*flag)),
        DeValue::String(text) => match text.strip_prefix('=') {
            None => Ok(Value::Text(text.to_string())),
            Some(expression) => match evaluate(expression, &|name| lookup(before, name)).map_err(refuse)? {
                Outcome::Bare(value) => Ok(value),
                Outcome::WithUnit(..) => {
                    Err(refuse("a parameter cannot have a unit: write the unit where the parameter is used".into()))
                }
            },
        },
        DeValue::Integer(_) | DeValue::Float(_) => match serde::Deserialize::deserialize(number(value)) {
            Ok(number) if f64::is_finite(number) => Ok(Value::Number(number)),
            Ok(_) => Err(refuse("expected a finite number".into())),
            Err(error) => Err(Fault::from(error)),
        },
        other => Err(refuse(format!("expected a number, text, true or false, found {}", other.type_str()))),
    }
}

fn number<'a>(value: &Spanned<DeValue<'a>>) -> toml::de::ValueDeserializer<'a> {
    toml::de::ValueDeserializer::from(Spanned::new(value.span(), value.get_ref().clone()))
}

fn lookup(parameters: &[Parameter], name: &str) -> Result<Value, String> {
    match parameters.iter().find(|known| known.name == name) {
        Some(parameter) => Ok(parameter.value.clone()),
        None if parameters.is_empty() => Err(format!("unknown parameter '{name}', no parameter is defined before it")),
        None => {
            let known: Vec<&str> = parameters.iter().map(|known| &*known.name).collect();
            Err(format!("unknown parameter '{name}', expected one of {}", known.join(", ")))
        }
    }
}

/// The values of a text's expressions as TOML, by the place where they begin: the library parses numbers from text
/// alone.
pub(super) type Literals = BTreeMap<usize, Literal>;

/// A value in place of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Literal {
    Toml(String),
    Text(String),
}

/// Evaluates every expression of a table.
pub(super) fn literals(table: &DeTable<'_>, parameters: &[Parameter]) -> Result<Literals, Fault> {
    let mut found = Literals::new();
    table.iter().try_for_each(|(_, value)| collect(value, parameters, &mut found)).map(|()| found)
}

fn collect(value: &Spanned<DeValue<'_>>, parameters: &[Parameter], found: &mut Literals) -> Result<(), Fault> {
    match value.get_ref() {
        DeValue::String(text) => {
            if let Some(expression) = text.strip_prefix('=') {
                let literal = literal(expression, parameters).map_err(|why| Fault::at(&value.span(), why))?;
                found.insert(value.span().start, literal);
            }
            Ok(())
        }
        DeValue::Array(array) => array.iter().try_for_each(|value| collect(value, parameters, found)),
        DeValue::Table(table) => table.iter().try_for_each(|(_, value)| collect(value, parameters, found)),
        _ => Ok(()),
    }
}

fn literal(expression: &str, parameters: &[Parameter]) -> Result<Literal, String> {
    // Adding zero makes -0 a 0.
    Ok(match evaluate(expression, &|name| lookup(parameters, name))? {
        Outcome::WithUnit(number, unit) => Literal::Text(format!("{}{unit}", number + 0.0)),
        Outcome::Bare(Value::Text(text)) => Literal::Text(text),
        Outcome::Bare(Value::Flag(flag)) => Literal::Toml(flag.to_string()),
        Outcome::Bare(Value::Number(number)) if number.fract() == 0.0 && number.abs() < EXACT => {
            Literal::Toml((number as i64).to_string())
        }
        Outcome::Bare(Value::Number(number)) => Literal::Toml(format!("{number:?}")),
    })
}

/// Below it every whole number is exact: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Replaces expressions by their values.
pub(super) fn substitute<'a>(table: &mut DeTable<'a>, literals: &'a Literals) -> Result<(), Fault> {
    table.iter_mut().try_for_each(|(_, value)| replace(value, literals))
}

fn replace<'a>(value: &mut Spanned<DeValue<'a>>, literals: &'a Literals) -> Result<(), Fault> {
    let span: Range<usize> = value.span();
    match value.get_mut() {
        DeValue::Array(array) => array.iter_mut().try_for_each(|value| replace(value, literals)),
        DeValue::Table(table) => substitute(table, literals),
        text @ DeValue::String(_) => {
            match literals.get(&span.start) {
                Some(Literal::Toml(literal)) => *text = DeValue::parse(literal)?.into_inner(),
                Some(Literal::Text(literal)) => *text = DeValue::String(Cow::Borrowed(literal)),
                None => {}
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
