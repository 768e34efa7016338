//! Encryption of a tunnel's datagrams: the two ciphers of Noise under `snow`, AES-GCM by ring and by RustCrypto, and a
//! whole association.
//!
//! `cargo run --release --manifest-path benches/Cargo.toml --bin seal`

use std::net::SocketAddr;
use std::process::ExitCode;

use snow::params::CipherChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver, RingResolver};
use thalweg_bench::race::{Contestant, race};
use thalweg_bench::report::{Bound, Target, Unit, main as report, section, table, verdicts};
use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::secure::{Acceptor, Association, Config, Entropy, Key, OVERHEAD};
use thalweg_core::time::Time;

/// The payload of a datagram of 1200 bytes.
const PLAIN: usize = 1200 - OVERHEAD;

const TAG: usize = 16;

fn main() -> ExitCode {
    report("seal", |_| bench())
}

fn bench() -> Result<(), String> {
    let mut pair = Pair::new()?;
    let plain = [7; PLAIN];
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    let ciphers: [(&str, &dyn CryptoResolver, CipherChoice); 3] = [
        ("AES-256-GCM", &RingResolver, CipherChoice::AESGCM),
        ("AES-256-GCM of RustCrypto", &DefaultResolver, CipherChoice::AESGCM),
        ("ChaCha20-Poly1305", &RingResolver, CipherChoice::ChaChaPoly),
    ];
    for (name, resolver, choice) in ciphers {
        let mut cipher = resolver.resolve_cipher(&choice).ok_or("snow lacks a cipher")?;
        cipher.set(&[1; 32]);
        let (mut nonce, mut sealed, mut opened) = (0, [0; PLAIN + TAG], [0; PLAIN]);
        let work = move || {
            nonce += 1;
            cipher.encrypt(nonce, &[], &plain, &mut sealed);
            cipher.decrypt(nonce, &[], &sealed, &mut opened).expect("what was sealed");
        };
        contestants.push((format!("{name}, sealed and opened"), Box::new(work)));
    }
    contestants.push(("association, sealed and opened".into(), Box::new(|| pair.carry(&plain))));
    let times = race(&mut contestants);

    let text = format!(
        "Payload of {PLAIN} bytes, sealed by one end and opened by the other on one core. Contestants take turns; medians."
    );
    section("Sealing", &text, &["cargo run --release --manifest-path benches/Cargo.toml --bin seal".into()]);
    let rate = |seconds: f64| 8.0 * PLAIN as f64 / seconds;
    let row = |((name, _), times): (&Contestant<'_>, &thalweg_bench::race::Times)| {
        let median = times.median();
        [name.clone(), format!("{:.0} ns", median * 1e9), Unit::Megabits.write(rate(median))]
    };
    let rows: Vec<[String; 3]> = contestants.iter().zip(&times).map(row).collect();
    table(["contestant", "a datagram", "both on one core"], &rows);
    let target = Target { what: "association on one core".into(), bound: Bound::AtLeast(2e9), unit: Unit::Megabits };
    verdicts(&[(target, rate(times[3].median()))]);
    Ok(())
}

/// Two endpoints with an established association.
struct Pair {
    ends: [Association; 2],
    here: SocketAddr,
}

impl Pair {
    fn new() -> Result<Pair, String> {
        let [here, there] = [5000, 7000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let mut entropy = Entropy::new([1; 32]);
        let (key, config) = (Key::shared(&mut entropy), Config::default());
        let text = |error: thalweg_core::session::secure::KeyError| error.to_string();
        let mut client = Association::initiate(config, &key, there, Time::ZERO, entropy.fork()).map_err(text)?;
        let mut acceptor = Acceptor::new(config, &key, entropy.fork()).map_err(text)?;
        let (mut buf, mut answer, mut out) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
        loop {
            let sent = client.poll_transmit(Time::ZERO, &mut buf).ok_or("no hello")?;
            let reply = acceptor.handle_datagram(Time::ZERO, here, &buf[..sent.len], &mut answer);
            let reply = reply.map_err(|error| error.to_string())?;
            let answered = client.handle_datagram(Time::ZERO, there, &answer[..reply.transmit.len], &mut out);
            answered.map_err(|error| error.to_string())?;
            if let Some(server) = reply.association {
                return Ok(Pair { ends: [client, server], here });
            }
        }
    }

    fn carry(&mut self, plain: &[u8]) {
        let [client, server] = &mut self.ends;
        let (mut buf, mut out) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
        let sent = client.seal(Time::ZERO, plain, &mut buf).expect("an established association");
        let opened = server.handle_datagram(Time::ZERO, self.here, &buf[..sent.len], &mut out);
        assert_eq!(opened.map(|text| text.map(<[u8]>::len)), Ok(Some(plain.len())));
    }
}
