//! An original as it is combined: its length, then itself.

/// Bytes of the length in front of an original.
pub const LENGTH: usize = 2;

/// An original with its length.
pub(super) fn from_original(original: &[u8]) -> Vec<u8> {
    let mut symbol = Vec::with_capacity(LENGTH + original.len());
    symbol.extend_from_slice(&(original.len() as u16).to_be_bytes());
    symbol.extend_from_slice(original);
    symbol
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
