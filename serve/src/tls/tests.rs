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
fn a_certificate_of_its_own_is_as_openssl_reads_it() {
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
    let key = folder.join("own.pub");
    fs::write(&key, openssl("-pubkey").expect("openssl")).expect("a file");
    let script = "openssl pkey -pubin -in $0 -outform der | openssl dgst -sha256 -binary | base64";
    let digest = Command::new("sh").args(["-c", script]).arg(&key).output().expect("a shell").stdout;
    assert_eq!(String::from_utf8(digest).expect("text").trim(), identity.pin());
    fs::remove_dir_all(folder).expect("ours");
}

#[test]
fn what_cannot_be_a_certificate_and_its_key_is_said_in_a_line() {
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
    let none = folder.join("none");
    let long = file("long", &vec![b'a'; 2 << 20]);
    for (certificate, key, expected) in [
        (&none, &key, "none: no such file or directory"),
        (&folder, &key, "it is no file"),
        (&long, &key, "long: it is too long for a certificate or a key"),
        (&one, &none, "none: no such file or directory"),
        (&nonsense, &key, "nonsense: it has no certificate in PEM"),
        (&key, &key, "one.key: it has no certificate in PEM"),
        (&broken, &key, "broken: a certificate in it is no PEM"),
        (&empty, &key, "empty.crt: its first certificate cannot be read"),
        (&one, &one, "one.crt: it has no private key in PEM, or one under a password"),
        (&one, &locked, "locked.key: it has no private key in PEM, or one under a password"),
        (&one, &odd, "odd.key: no key of a kind that TLS has (ECDSA, Ed25519 or RSA)"),
        (&one, &other, &format!("the key in {} is not that of {}", other.display(), one.display())),
    ] {
        let why = Identity::read(certificate, key).expect_err(expected);
        assert!(why.ends_with(expected) && !why.contains('\n'), "{why}; expected {expected}");
    }
    fs::remove_dir_all(folder).expect("ours");
}
