//! An original as it is combined: its length, then itself.

/// Bytes of the length in front of an original.
pub const LENGTH: usize = 2;

/// So much memory of symbols that are done with waits for others, in symbols: of this size an allocator is slow with it.
const SPARES: usize = 64;

/// Memory of symbols that are done with.
#[derive(Clone, Debug, Default)]
pub(super) struct Spares(Vec<Vec<u8>>);

/// Where memory comes from makes no difference.
impl PartialEq for Spares {
    fn eq(&self, _other: &Spares) -> bool {
        true
    }
}

impl Eq for Spares {}

impl Spares {
    /// An original with its length.
    pub(super) fn symbol(&mut self, original: &[u8]) -> Vec<u8> {
        let mut symbol = self.0.pop().unwrap_or_default();
        symbol.clear();
        symbol.reserve_exact(LENGTH + original.len());
        symbol.extend_from_slice(&(original.len() as u16).to_be_bytes());
        symbol.extend_from_slice(original);
        symbol
    }

    /// Takes a symbol that is done with.
    pub(super) fn put(&mut self, symbol: Vec<u8>) {
        if self.0.len() < SPARES {
            self.0.push(symbol);
        }
    }

    /// Gives all memory back.
    pub(super) fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

/// The original of a symbol that has no zeros behind it.
pub(super) fn original(symbol: &[u8]) -> &[u8] {
    &symbol[LENGTH..]
}

/// Takes away the zeros behind a symbol, if it is one.
pub(super) fn trimmed(mut symbol: Vec<u8>) -> Option<Vec<u8>> {
    let &length = symbol.first_chunk()?;
    let end = LENGTH + usize::from(u16::from_be_bytes(length));
    let padding = symbol.get(end..)?;
    if padding.iter().any(|&byte| byte != 0) {
        return None;
    }
    symbol.truncate(end);
    Some(symbol)
}
