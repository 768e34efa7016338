//! TCP Stream as what a computer has for all that choose nothing, unloaded and loaded again.

use std::net::{TcpListener, TcpStream};
use std::process;

use rustix::net::sockopt;
use thalweg_net::error::Error;
use thalweg_net::testbed::Namespace;

use crate::cable::Yard;
use crate::control::Control;

/// `thalweg kernel VERB` at a computer, which succeeds; what it says.
fn run(at: &Namespace, control: &Control, verb: &str, args: &[&str]) -> String {
    let (code, out, error) = at.within(|| Ok(control.run(verb, args))).expect("it runs");
    assert_eq!(code, 0, "{error}");
    out
}

/// A connection of a computer with itself, and the name of what it has.
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
fn a_film_law_that_was_unloaded_as_the_default_is_told_of_and_replaced_by_the_next() {
    let Some(_yard) = Yard::enter() else { return };
    let Some(control) = Control::named() else { return };
    let computer = Namespace::make(format!("thalweg-default-{}", process::id())).expect("root may");
    computer.ip("link set lo up").expect("ip may");
    let name = control.name();
    run(&computer, &control, "load", &[]);
    computer.set("ipv4/tcp_congestion_control", name).expect("it is there");
    let gone = run(&computer, &control, "unload", &[]);
    let (line, hint) = gone.trim_end().split_once('\n').expect("two lines");
    assert_eq!(line, format!("{name} is gone; no open connection keeps it"));
    let (_, typed) = hint.split_once("sysctl -w net.ipv4.tcp_congestion_control=").expect("what to type");
    // This is what the line warns of: nobody can see it any more, and yet it is used.
    let (_old, has) = connect(&computer);
    assert_eq!(has, name);
    let here = run(&computer, &control, "load", &["--rate", "5mbit"]);
    assert!(here.contains("in place of the one that was unloaded"), "{here}");
    let (_new, has) = connect(&computer);
    assert_eq!(has, name);
    let shown = control.connections();
    assert!(shown.len() == 2 && shown.iter().all(|shown| shown["rate_bps"] == 5_000_000), "{shown:?}");
    let gone = run(&computer, &control, "unload", &[]);
    assert!(gone.starts_with(&format!("{name} is gone; 2 open connections keep it until they end\n")), "{gone}");
    computer.set("ipv4/tcp_congestion_control", typed).expect("it is there");
    let (_other, has) = connect(&computer);
    assert_eq!(has, typed);
    // Who has chosen another default keeps it.
    assert_eq!(run(&computer, &control, "load", &[]), control.is_loaded());
    assert_eq!(connect(&computer).1, typed);
}
