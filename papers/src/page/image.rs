//! Pictures inside the page itself, side by side.

use super::{Tone, escape};

/// A picture and what it shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// The picture, as a JPEG file.
    pub jpeg: Vec<u8>,
    /// Its width in pixels.
    pub width: usize,
    /// Its height in pixels.
    pub height: usize,
    /// The subject.
    pub subject: String,
    /// The color of the subject.
    pub tone: Tone,
    /// A description of the picture.
    pub caption: String,
}

impl Image {
    pub(super) fn to_html(&self) -> String {
        let Image { jpeg, width, height, tone, .. } = self;
        let (subject, caption) = (escape(&self.subject), escape(&self.caption));
        format!(
            "<figure class=\"image\">\n<img alt=\"{subject}: {caption}\" width=\"{width}\" height=\"{height}\" \
             src=\"data:image/jpeg;base64,{}\">\n\
             <figcaption><b><i class=\"dot tone-{}\"></i>{subject}</b> {caption}</figcaption>\n</figure>\n",
            base64(jpeg),
            tone.0
        )
    }
}

/// RFC 4648 §4.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | usize::from(group.get(i).copied().unwrap_or(0)));
        let letters = [18, 12, 6, 0].map(|shift| char::from(ALPHABET[bits >> shift & 63]));
        let (kept, padding) = (group.len() + 1, "==".get(group.len() - 1..).unwrap_or(""));
        text.extend(&letters[..kept]);
        text += padding;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_rfc_4648() {
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xff; 3]), "////");
    }
}
