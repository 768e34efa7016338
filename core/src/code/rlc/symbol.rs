//! An original in the form in which it is combined: its length, then its bytes.

/// Bytes of the length in front of an original.
pub const LENGTH: usize = 2;

/// The most released symbols whose memory is kept for reuse: allocators are slow at these sizes.
const SPARES: usize = 64;

/// Memory of released symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct Spares(Vec<Vec<u8>>);

/// All are equal: the origin of memory makes no difference.
impl PartialEq for Spares {
    fn eq(&self, _other: &Spares) -> bool {
        true
    }
}

impl Eq for Spares {}

impl Spares {
    /// The symbol of an original: its length, then its bytes.
    pub(super) fn symbol(&mut self, original: &[u8]) -> Vec<u8> {
        let mut symbol = self.0.pop().unwrap_or_default();
        symbol.clear();
        symbol.reserve_exact(LENGTH + original.len());
        symbol.extend_from_slice(&(original.len() as u16).to_be_bytes());
        symbol.extend_from_slice(original);
        symbol
    }

    /// Takes the memory of a released symbol.
    pub(super) fn put(&mut self, symbol: Vec<u8>) {
        if self.0.len() < SPARES {
            self.0.push(symbol);
        }
    }

    /// Frees all memory.
    pub(super) fn clear(&mut self) {
        self.0 = Vec::new();
    }
}

/// The original of a symbol without padding.
pub(super) fn original(symbol: &[u8]) -> &[u8] {
    &symbol[LENGTH..]
}

/// Removes the zeros behind a symbol; none if it is malformed.
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
