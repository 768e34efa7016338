//! Laws over random logs and settings: each line is answered, or one line states the error.

use super::*;
use proptest::prelude::*;
use proptest::sample::select;

/// Every law that `thalweg replay` knows.
fn laws() -> impl Iterator<Item = Law> {
    Law::all().into_iter().map(|(law, ..)| law)
}

fn geneva() -> Law {
    Law::named("geneva").expect("a law")
}

/// Values of every kind, at the ends of their ranges above all.
fn value() -> impl Strategy<Value = String> {
    let edges =
        ["0", "1", "-1", "0.5", "-0.0", "1000000", "18446744073709551615", "9223372036854775807", "1e308", "1e-308"];
    let others =
        ["null", "true", "false", "\"x\"", "[]", "[[1,2]]", "{}", "[[18446744073709551614,18446744073709551615]]"];
    let events =
        ["\"ack\"", "\"dup3\"", "\"recovered\"", "\"timeout\"", "\"loaded\"", "\"IB\"", "[0,1]", "[null,1e308]"];
    let account = r#"{"useless":0,"received":0,"in_flight":4,"sum_p_useless":0.0}"#;
    prop_oneof![
        select([edges.as_slice(), &others, &events, &[account]].concat()).prop_map(str::to_owned),
        (0u32..12).prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
    ]
}

/// An object with all the keys of one law, or some, and any values.
fn object() -> impl Strategy<Value = Vec<u8>> {
    let keys = [
        &["lost", "delivered", "srtt", "t"][..],
        &["event", "rtt", "round_end"],
        &["event", "flight", "again"],
        &["s", "rtt", "p"],
        &["s", "rtt", "p", "alpha", "beta"],
        &["x", "s", "rtt", "alpha", "beta"],
        &["demand", "rtt", "p", "norm"],
        &["capacity", "flows"],
        &["eps", "b", "d", "e", "received", "in_flight", "overhead"],
        &["x"],
        &["q", "zeta_in_q", "zeta_next", "rho_prev", "p", "d", "mu", "p_l"],
        &["current", "forecast", "lambda", "rho_prev", "bank_open"],
        &["types", "arrival", "deadline", "sent"],
    ];
    let keys = select(keys.to_vec()).prop_flat_map(|keys| (Just(keys), prop::collection::vec(value(), keys.len())));
    keys.prop_map(|(keys, values)| {
        let pairs: Vec<String> = keys.iter().zip(values).map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}\n", pairs.join(",")).into_bytes()
    })
}

/// Lines that are valid for one law or another.
fn right() -> impl Strategy<Value = Vec<u8>> {
    let lines = [
        r#"{"lost":1,"delivered":32,"srtt":0.02,"t":1}"#,
        r#"{"lost":4294967295,"delivered":1000000,"srtt":3600,"t":-1e308}"#,
        r#"{"event":"ack","rtt":0.1,"round_end":true}"#,
        r#"{"event":"timeout","again":true}"#,
        r#"{"s":1024,"rtt":0.05,"p":0.01}"#,
        r#"{"s":1024,"rtt":0.05,"p":0.01,"alpha":1e-300,"beta":0.999999}"#,
        r#"{"x":1e18,"s":1,"rtt":3600,"alpha":1e300,"beta":0.5}"#,
        r#"{"demand":[9e6,1e-300,1e15],"rtt":[1e-300,3600,1],"p":[1e-300,1,0.1],"norm":"min"}"#,
        r#"{"capacity":2e6,"flows":[{"s":1024,"rtt":1e-300,"alpha":1,"beta":0.5,"cap":null}]}"#,
        r#"{"capacity":2e6,"flows":[{"s":1024,"rtt":0.04,"alpha":1,"beta":0.5,"cap":3e6}]}"#,
        r#"{"x":1e9}"#,
        r#"{"x":-1e-9}"#,
        r#"{"q":1e9,"zeta_in_q":0,"zeta_next":1,"rho_prev":0,"p":0.999,"d":0.000001,"mu":1e9,"p_l":1e9}"#,
        r#"{"current":"unloaded","forecast":"congested","lambda":-1e9,"rho_prev":1e9,"bank_open":false}"#,
        r#"{"types":"IBP","arrival":[1,null,-1e9],"deadline":[1,2,3],"sent":[1,1,0]}"#,
        r#"{"eps":0.1,"b":1,"d":5,"e":6,"received":[[2,2]],"in_flight":[[1,1],[1,4]],"overhead":{"useless":0,"received":0,"in_flight":4,"sum_p_useless":0.0}}"#,
        r#"{"eps":0.9,"b":18446744073709551600,"d":18446744073709551610,"e":9223372036854775807,"received":[],"in_flight":[],"overhead":{"useless":0,"received":0,"in_flight":0,"sum_p_useless":0}}"#,
        r#"{"eps":0.5,"b":9223372036854775800,"d":9223372036854775807,"e":9223372036854775807,"received":[],"in_flight":[[0,18446744073709551615]],"overhead":{"useless":0,"received":0,"in_flight":1,"sum_p_useless":1}}"#,
    ];
    select(lines.to_vec()).prop_map(|line| format!("{line}\n").into_bytes())
}

fn log() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![object(), right(), prop::collection::vec(any::<u8>(), 0..100)];
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.concat())
}

/// The number of answers, each an object, and the reason of the stop.
fn replayed(law: &Law, settings: &[(String, String)], log: &[u8]) -> Option<(usize, Result<(), String>)> {
    let mut output = Vec::new();
    let mut law_at_work = Replay::new(law, settings).ok()?;
    let stop = law_at_work.lines(&mut BufReader::new(log), &mut output);
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let answers = lines.map(|line| {
        let value: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(value.is_object(), "{value}");
    });
    let answers = answers.count();
    let stop = stop.map_err(|stop| match stop {
        Stop::Line(number, why) => format!("line {number}: {why}"),
        Stop::Input(error) | Stop::Output(error) => panic!("memory does not fail: {error}"),
    });
    Some((answers, stop))
}

proptest! {
    #[test]
    fn any_log_is_answered_line_by_line_or_refused_in_one_line(log in log()) {
        for law in laws() {
            let (answers, stop) = replayed(&law, &[], &log).expect("the paper's parameters");
            let lines = log.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
            match stop {
                Ok(()) => prop_assert_eq!(answers, lines),
                Err(why) => {
                    prop_assert!(answers < lines);
                    prop_assert_eq!(why.lines().count(), 1, "{}", why);
                }
            }
        }
    }

    #[test]
    fn any_setting_is_refused_in_one_line_or_builds_a_law(
        text in r"(k|syn|a|b|p_max|alpha|fwnd_(min|max)|i_low|state|f|repair|every|keep|gain|threshold|iw|ssthresh|rate|mss|m|theta|p0|rho_min|lambda_max|base|\PC{0,5})=\PC{0,8}",
        number in value(),
    ) {
        for text in [text.clone(), format!("{}={number}", text.split('=').next().unwrap_or_default())] {
            let Some((name, value)) = text.split_once('=') else { continue };
            let setting = (name.trim().to_owned(), value.trim().to_owned());
            for law in laws() {
                let settings = std::slice::from_ref(&setting);
                match Replay::new(&law, settings) {
                    Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
                    Ok(_) => {
                        let log = br#"{"lost":3,"delivered":30,"srtt":0.02,"t":1}"#;
                        // A report, which some of the laws do not read.
                        let (answers, stop) = replayed(&law, settings, log).expect("it was built before");
                        prop_assert_eq!(answers, usize::from(stop.is_ok()));
                    }
                }
            }
        }
    }
}

#[test]
fn endless_line_is_refused_at_the_length_limit() {
    let endless = io::repeat(b' ');
    let mut law = Replay::new(&geneva(), &[]).expect("the paper's parameters");
    let stop = law.lines(&mut BufReader::new(endless), &mut Vec::new());
    assert!(matches!(stop, Err(Stop::Line(1, why)) if why.contains("1048576 bytes")));
}

/// Second copy of a single original that no retransmission can save: .05 .95, by hand.
#[test]
fn deadline_shows_the_worth_of_a_copy() {
    let law = Law::named("deadline").expect("a law");
    let line = br#"{"loss":0.05,"run":1.0526315789473684,"notice":0.1,"budget":0.04,"slot":0.001,"age":[0],"received":[],"in_flight":[[0,0,0]]}"#;
    let mut output = Vec::new();
    let mut replayed = Replay::new(&law, &[]).expect("the default");
    let done = replayed.lines(&mut BufReader::new(&line[..]), &mut output);
    assert!(done.is_ok());
    let answer: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert!((answer["worth"].as_f64().expect("a number") - 0.0475).abs() < 1e-12, "{answer}");
    assert_eq!(answer["choice"], serde_json::json!({"kind": "resend", "last": 0}));
}

#[test]
fn impossible_states_of_a_live_sender_are_refused() {
    let law = Law::named("deadline").expect("a law");
    let whole = r#"{"loss":0.05,"run":1.1,"notice":0.1,"budget":0.04,"slot":0.001,"age":[0.001,0],"received":[],"in_flight":[]}"#;
    for (from, to, why) in [
        ("0.05", "1", "loss"),
        ("1.1", "1", "run"),
        ("[0.001,0]", "[0,0.001]", "age"),
        ("0.04", "-1", "times"),
        ("\"in_flight\":[]", "\"in_flight\":[[0,2,0]]", "[0,2]"),
        ("\"in_flight\":[]", "\"in_flight\":[[0,1,0.5]]", "before original 1"),
    ] {
        let line = whole.replace(from, to);
        let mut replayed = Replay::new(&law, &[]).expect("the default");
        match replayed.lines(&mut BufReader::new(line.as_bytes()), &mut Vec::new()) {
            Err(Stop::Line(1, text)) => assert!(text.contains(why), "{line}: {text}"),
            _ => panic!("{line} is taken"),
        }
    }
}
