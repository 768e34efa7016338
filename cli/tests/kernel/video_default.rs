//! TCP Stream as the default control of a computer, unloaded and loaded again.

use std::net::{TcpListener, TcpStream};
use std::process;

use rustix::net::sockopt;
use thalweg_net::error::Error;
use thalweg_testbed::Namespace;

use crate::cable::Yard;
use crate::control::Control;

/// Runs `thalweg kernel VERB` at a computer, which must succeed; returns its output.
fn run(at: &Namespace, control: &Control, verb: &str, args: &[&str]) -> String {
    let (code, out, error) = at.within(|| Ok(control.run(verb, args))).expect("it runs");
    assert_eq!(code, 0, "{error}");
    out
}

/// A connection of a computer with itself, and the name of its congestion control.
fn connect(at: &Namespace) -> ([TcpStream; 2], String) {
    let pair = at.within(|| {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(Error::io("server"))?;
        let client = TcpStream::connect(listener.local_addr().expect("bound")).map_err(Error::io("client"))?;
        Ok([client, listener.accept().map_err(Error::io("server"))?.0])
    });
    let pair = pair.expect("loopback");
    let has = sockopt::tcp_congestion(&pair[0]).expect("connected");
    (pair, has)
}

#[test]
fn law_unloaded_while_the_default_is_reported_and_replaced_by_the_next() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let computer = Namespace::make(format!("thalweg-default-{}", process::id())).expect("root may");
    computer.ip("link set lo up").expect("ip may");
    let name = control.name();
    run(&computer, &control, "load", &[]);
    computer.set("ipv4/tcp_congestion_control", name).expect("it is there");
    let gone = run(&computer, &control, "unload", &[]);
    let (line, hint) = gone.trim_end().split_once('\n').expect("two lines");
    assert_eq!(line, format!("{name} is unloaded; no open connection uses it"));
    let (_, typed) = hint.split_once("sysctl -w net.ipv4.tcp_congestion_control=").expect("what to type");
    // The message warns of this: the control is no longer listed, and yet it is used.
    let (_old, has) = connect(&computer);
    assert_eq!(has, name);
    let here = run(&computer, &control, "load", &["--rate", "5mbit"]);
    assert!(here.contains("is loaded, and replaces the unloaded one"), "{here}");
    let (_new, has) = connect(&computer);
    assert_eq!(has, name);
    let shown = control.connections();
    assert!(shown.len() == 2 && shown.iter().all(|shown| shown["rate_bps"] == 5_000_000), "{shown:?}");
    let gone = run(&computer, &control, "unload", &[]);
    assert!(gone.starts_with(&format!("{name} is unloaded; 2 open connections use it until they end\n")), "{gone}");
    computer.set("ipv4/tcp_congestion_control", typed).expect("it is there");
    let (_other, has) = connect(&computer);
    assert_eq!(has, typed);
    // Another default that was chosen since is kept.
    assert_eq!(run(&computer, &control, "load", &[]), control.is_loaded());
    assert_eq!(connect(&computer).1, typed);
}
