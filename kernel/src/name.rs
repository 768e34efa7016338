//! Names of controls.

use std::fmt;
use std::str::FromStr;

/// The name by which programs choose a control: 1 to 15 letters, digits and underscores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name(String);

impl Name {
    /// The name as the kernel stores it: 16 bytes, padded with zeros.
    #[cfg(feature = "bpf")]
    pub(crate) fn padded(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..self.0.len()].copy_from_slice(self.0.as_bytes());
        bytes
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Name {
    fn default() -> Name {
        Name("tcp_stream".to_owned())
    }
}

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Name, &'static str> {
        let fits = (1..=15).contains(&text.len());
        match fits && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            true => Ok(Name(text.to_owned())),
            false => Err("must be 1 to 15 letters, digits or underscores"),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_the_kernel_takes_for_one_and_never_a_path() {
        for good in ["tcp_stream", "a", "fifteen_letters"] {
            assert_eq!(good.parse::<Name>().expect(good).to_string(), good);
        }
        for bad in ["", "sixteen__letters", "..", "a/b", "a b", "é"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
