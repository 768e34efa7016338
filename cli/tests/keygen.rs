//! `thalweg keygen` as a process.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use thalweg_core::session::secure::Key;

use crate::common::run;

fn file(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("keygen-{name}"));
    let _ = fs::remove_file(&path);
    path
}

#[test]
fn shared_key_is_written_once_and_shown_without_its_secret() {
    let path = file("shared");
    let name = path.to_str().unwrap();
    let (code, printed, _) = run(&["keygen", name]);
    assert_eq!(code, 0);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(printed, format!("{}\n", Key::parse(&text).unwrap().public()));
    assert!(printed.starts_with("fingerprint ") && !text.contains(printed.trim().rsplit(' ').next().unwrap()));
    assert_eq!(run(&["keygen", "--show", name]).1, printed);

    let (code, printed, line) = run(&["keygen", name]);
    assert_eq!((code, printed.as_str()), (1, ""));
    assert!(line.starts_with(&format!("thalweg: keygen: key file {name}: already exists")), "{line}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn static_keys_authorize_each_other() {
    let (server, client) = (file("server"), file("client"));
    let (code, printed, _) = run(&["keygen", "--static", server.to_str().unwrap()]);
    assert_eq!(code, 0);
    let public = printed.trim().strip_prefix("peer ").expect("a line for the other side");
    let (code, printed, _) = run(&["keygen", "--static", "--peer", public, client.to_str().unwrap()]);
    assert_eq!(code, 0);
    let text = fs::read_to_string(&server).unwrap() + &printed;
    let public_of = |text: &str| Key::parse(text).unwrap().public();
    assert!(fs::read_to_string(&client).unwrap().contains(&public_of(&text)));
    assert!(text.contains(&public_of(&fs::read_to_string(&client).unwrap())));
}

#[test]
fn malformed_keys_are_reported_in_one_line() {
    let path = file("cut");
    let name = path.to_str().unwrap();
    fs::write(&path, "thalweg-key 1 shared\nsecret 00ff").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let (code, _, line) = run(&["keygen", "--show", name]);
    assert_eq!(code, 1);
    assert!(line.starts_with(&format!("thalweg: keygen: key file {name}: line 2 has 4 digits")), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    let (code, _, line) = run(&["keygen", "--static", "--peer", "12", "never-written"]);
    assert_eq!((code, line.lines().count()), (2, 1));
    assert!(line.contains("not a public key of 64 hexadecimal digits"), "{line}");
}
