//! Datagrams of an association: parsing and writing gives the same bytes. Inner messages and keys parse again to the
//! same contents.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::session::secure::Key;
use thalweg_core::wire::secure::Datagram;
use thalweg_core::wire::secure::inner::Inner;

fuzz_target!(|data: &[u8]| {
    let mut buf = vec![0; data.len() + 64];
    let written = match Datagram::parse(data) {
        Ok(Datagram::Hello(hello)) => hello.emit(&mut buf),
        Ok(Datagram::Cookie(cookie)) => cookie.emit(&mut buf),
        Ok(Datagram::Answer(answer)) => answer.emit(&mut buf),
        Ok(Datagram::Refusal(refusal)) => refusal.emit(&mut buf),
        Ok(Datagram::Unknown(unknown)) => unknown.emit(&mut buf),
        Ok(Datagram::Sealed(sealed)) => {
            sealed.put_header(&mut buf);
            data.len() - sealed.body.len()
        }
        Ok(Datagram::Foreign { .. }) | Err(_) => 0,
    };
    assert_eq!(buf[..written], data[..written]);
    if let Ok(inner) = Inner::parse(data) {
        let len = inner.emit(&mut buf);
        assert_eq!(Inner::parse(&buf[..len]), Ok(inner));
    }
    if let Ok(key) = str::from_utf8(data).map_err(drop).and_then(|text| Key::parse(text).map_err(drop)) {
        assert_eq!(Key::parse(&key.emit()), Ok(key));
    }
});
