use super::*;
use proptest::prelude::*;

fn keys() -> [Key; 2] {
    let mut entropy = Entropy::new([3; 32]);
    [Key::shared(&mut entropy), Key::own(&mut entropy, vec![[1; 32], [0xab; 32]])]
}

#[test]
fn key_file_round_trips_with_comments_and_spaces() {
    for key in keys() {
        let text = key.emit();
        assert_eq!(Key::parse(&text), Ok(key.clone()));
        assert_eq!(Key::parse(&format!("# mine\n\n  {}", text.replace('\n', "  \r\n"))), Ok(key));
    }
}

#[test]
fn truncated_key_file_is_refused_with_one_line() {
    for key in keys() {
        let text = key.emit();
        for at in 0..text.len() - 1 {
            let cut = &text[..at];
            // Only a cut behind a whole peer leaves a key file; it accepts fewer peers.
            let is_whole = Key::parse(cut).is_ok_and(|key| text.starts_with(key.emit().trim_end()));
            let error = Key::parse(cut).map_err(|error| error.to_string());
            assert!(is_whole || error.as_ref().is_err_and(|line| !line.contains('\n')), "{at}: {error:?}");
            assert!(!is_whole || cut.trim_end().len() >= 20 + 72, "{at}");
            let is_short = error.is_err_and(|line| line == "the file is empty" || line.ends_with("truncated?"));
            assert!(is_whole || is_short || cut.len() > 20, "{at}: {cut}");
        }
    }
}

#[test]
fn parse_errors_name_the_line_and_the_cause() {
    let secret = "0".repeat(64);
    let message_of = |text: &str| Key::parse(text).unwrap_err().to_string();
    let odd = secret.replacen('0', "g", 1);
    for (text, words) in [
        ("-----BEGIN OPENSSH PRIVATE KEY-----", ["not a key file", "`thalweg-key 1`"]),
        ("thalweg-key 2 shared", ["line 1 ", "not valid"]),
        ("thalweg-key 1 shared", ["`secret`", "missing"]),
        ("thalweg-key 1 shared\nsecret 12", ["line 2 ", "2 digits, expected 64"]),
        (&format!("thalweg-key 1 shared\nsecret {secret}\npeer {secret}"), ["line 3 ", "not valid"]),
        (&format!("thalweg-key 1 shared\nsecret {odd}"), ["line 2 ", "not hexadecimal"]),
    ] {
        let line = message_of(text);
        assert!(words.iter().all(|word| line.contains(word)), "{text}: {line}");
    }
}

#[test]
fn the_public_part_is_that_of_rfc_7748() {
    // RFC 7748 §6.1, Alice.
    let secret = digits_of(1, "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a").unwrap();
    let public = "peer 8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a";
    assert_eq!(Key::Static { secret, peers: vec![] }.public(), public);
}

#[test]
fn debug_output_hides_the_secret() {
    for key in keys() {
        let secret = match &key {
            Key::Shared(secret) | Key::Static { secret, .. } => hex(secret),
        };
        assert!(!format!("{key:?}").contains(&secret));
    }
}

proptest! {
    #[test]
    fn arbitrary_text_is_a_key_or_a_one_line_error(
        text in r"\PC*|thalweg-key 1 (shared|static)(\n *(secret|peer|#)? [0-9a-fA-F]{0,66})*",
    ) {
        match Key::parse(&text) {
            Ok(key) => prop_assert_eq!(Key::parse(&key.emit()), Ok(key)),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }
}
