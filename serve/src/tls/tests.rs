use std::path::PathBuf;
use std::process::Command;

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("thalweg-tls-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A certificate and its key, in files.
fn files(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (certificate, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
    fs::write(&certificate, pem("CERTIFICATE", made.cert.der())).expect("a file");
    fs::write(&key, pem("PRIVATE KEY", &made.signing_key.serialize_der())).expect("a file");
    (certificate, key)
}

fn pem(label: &str, der: &[u8]) -> String {
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(der))
}

#[test]
fn certificate_for_any_address_names_those_of_this_machine() {
    let identity = Identity::own("0.0.0.0").expect("a certificate");
    let certificate = rustls::pki_types::CertificateDer::from(identity.key.cert[0].to_vec());
    let certificate = ParsedCertificate::try_from(&certificate).expect("it can be read");
    for address in machine::addresses() {
        let name = rustls::pki_types::ServerName::from(address);
        rustls::client::verify_server_name(&certificate, &name).expect("its own address");
    }
    let other = "192.0.2.9".try_into().expect("an address");
    assert!(rustls::client::verify_server_name(&certificate, &other).is_err());
}

#[test]
fn own_certificate_is_parsed_alike_by_openssl() {
    let identity = Identity::own("192.0.2.7").expect("a certificate");
    let folder = folder("own");
    let path = folder.join("own.crt");
    fs::write(&path, pem("CERTIFICATE", &identity.key.cert[0])).expect("a file");
    let openssl = |more: &str| {
        let output = Command::new("openssl").args(["x509", "-noout", "-in"]).arg(&path).args(more.split(' ')).output();
        output.ok().map(|output| String::from_utf8(output.stdout).expect("text"))
    };
    let Some(fingerprint) = openssl("-fingerprint -sha256") else {
        println!("skipped: no openssl");
        return;
    };
    assert_eq!(fingerprint.trim().split_once('=').expect("it").1, identity.fingerprint());
    let names = openssl("-ext subjectAltName").expect("openssl");
    for name in ["DNS:localhost", "IP Address:127.0.0.1", "IP Address:0:0:0:0:0:0:0:1", "IP Address:192.0.2.7"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    assert_eq!(identity.warning(SystemTime::now()), None);
    let key = folder.join("own.pub");
    fs::write(&key, openssl("-pubkey").expect("openssl")).expect("a file");
    let script = "openssl pkey -pubin -in $0 -outform der | openssl dgst -sha256 -binary | base64";
    let digest = Command::new("sh").args(["-c", script]).arg(&key).output().expect("a shell").stdout;
    assert_eq!(String::from_utf8(digest).expect("text").trim(), identity.pin());
    fs::remove_dir_all(folder).expect("ours");
}

/// A certificate that does not state its version, and so is of version 1 (RFC 5280 §4.1.2.1).
fn of_version_1() -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let mut der = made.cert.der().to_vec();
    // Two sequences, each with a length of two bytes, and the version first in the inner one.
    assert_eq!((der[1], der[5], &der[8..13]), (0x82, 0x82, &[0xa0, 3, 2, 1, 2][..]));
    for at in [2, 6] {
        let len = u16::from_be_bytes([der[at], der[at + 1]]) - 5;
        der[at..at + 2].copy_from_slice(&len.to_be_bytes());
    }
    der.drain(8..13);
    der
}

#[test]
fn supported_keys_are_accepted_and_others_refused() {
    let folder = folder("keys");
    for (name, kind, taken) in [
        ("p384", "-newkey ec -pkeyopt ec_paramgen_curve:P-384", true),
        ("rsa", "-newkey rsa:2048", true),
        ("ed25519", "-newkey ed25519", true),
        ("p521", "-newkey ec -pkeyopt ec_paramgen_curve:P-521", false),
        ("short", "-newkey rsa:1024", false),
    ] {
        let mut openssl = Command::new("openssl");
        openssl
            .args("req -x509 -nodes -days 2 -subj /CN=localhost -keyout key -out crt".split(' '))
            .args(kind.split(' '));
        match openssl.current_dir(&folder).output() {
            Err(_) => return println!("skipped: no openssl"),
            // A newer openssl may refuse to make a key that is too short.
            Ok(output) if !output.status.success() => continue,
            Ok(_) => {}
        }
        let identity = Identity::read(&folder.join("crt"), &folder.join("key"));
        match identity {
            Ok(identity) => {
                assert!(taken, "{name}");
                let warning = identity.warning(SystemTime::now()).expect("its end is near");
                assert!(warning.contains("expires on "), "{warning}");
            }
            Err(why) => assert!(!taken && why.ends_with(KEYS), "{name}: {why}"),
        }
    }
    fs::remove_dir_all(folder).expect("ours");
}

#[test]
fn invalid_certificates_and_keys_are_refused_in_one_line() {
    let folder = folder("wrong");
    let ((one, key), (_, other)) = (files(&folder, "one"), files(&folder, "two"));
    assert!(Identity::read(&one, &key).is_ok());
    let file = |name: &str, text: &[u8]| {
        fs::write(folder.join(name), text).expect("a file");
        folder.join(name)
    };
    let nonsense = file("nonsense", &[0xff; 500]);
    let broken = file("broken", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
    let empty = file("empty.crt", pem("CERTIFICATE", b"nothing").as_bytes());
    let odd = file("odd.key", pem("PRIVATE KEY", b"nothing").as_bytes());
    let locked = file("locked.key", pem("ENCRYPTED PRIVATE KEY", b"nothing").as_bytes());
    let first = file("first.crt", pem("CERTIFICATE", &of_version_1()).as_bytes());
    let none = folder.join("none");
    let long = file("long", &vec![b'a'; 2 << 20]);
    for (certificate, key, expected) in [
        (&none, &key, "none: no such file or directory"),
        (&folder, &key, ": not a regular file"),
        (&long, &key, "long: too long "),
        (&one, &none, "none: no such file or directory"),
        (&nonsense, &key, "nonsense: it has no PEM certificate"),
        (&key, &key, "one.key: it has no PEM certificate"),
        (&broken, &key, "broken: it has a certificate that is not valid PEM"),
        (&empty, &key, "empty.crt: the first certificate cannot be parsed"),
        (&one, &one, "one.crt: it has no PEM private key"),
        (&one, &locked, "locked.key: the key is encrypted"),
        (&one, &odd, &format!("odd.key: unsupported key; supported are {KEYS}")),
        (&first, &key, "first.crt: the first certificate has X.509 version 1"),
        (&one, &other, &format!("the key in {} does not belong to {}", other.display(), one.display())),
    ] {
        let why = Identity::read(certificate, key).expect_err(expected);
        assert!(why.contains(expected) && !why.contains('\n'), "{why}; expected {expected}");
    }
    fs::remove_dir_all(folder).expect("ours");
}
