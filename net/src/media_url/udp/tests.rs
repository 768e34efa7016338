use super::*;

#[test]
fn link_local_addresses_need_an_interface() {
    let resolved = |text: &str| text.parse::<Udp>().expect(text).resolve();
    let is_lo = |text: &str| match resolved(text).expect(text) {
        SocketAddr::V6(address) => address.scope_id() == interface_index("lo").expect("loopback").get(),
        SocketAddr::V4(_) => false,
    };
    // RFC 4291 §2.5.6 and §2.7: link-local hosts, and groups of interface-local and link-local scope.
    for text in ["[fe80::1]:5000", "[ff02::1]:5000", "[ff12::8]:5000", "[ff11::8]:5000"] {
        let error = resolved(text).expect_err(text).to_string();
        assert!(error.contains("needs its interface, as in [f") && error.contains("%eth0]:5000"), "{error}");
    }
    assert!(is_lo("[fe80::1%lo]:5000") && is_lo("[ff12::8%lo]:5000"));
    assert!(is_lo("[ff12::8]:5000?iface=lo") && is_lo("[ff11::8]:5000?iface=lo"));
    assert!(resolved("[ff15::8]:5000").is_ok() && resolved("[2001:db8::1]:5000").is_ok());
}

#[test]
fn ipv4_address_is_preferred_if_it_has_a_route() {
    let [v6, far, near] = ["[2001:db8::1]:7", "192.0.2.1:7", "198.51.100.1:7"].map(|it| it.parse().expect(it));
    let all = [v6, far, near];
    assert_eq!(choose_address(&all, |_| true), Some(far));
    assert_eq!(choose_address(&all, |address| address != far), Some(near));
    assert_eq!(choose_address(&all, |_| false), Some(v6), "as the resolver has it");
    assert_eq!(choose_address(&[v6], |_| true), Some(v6));
    assert_eq!(choose_address(&[], |_| true), None);
}

#[test]
fn port_alone_means_loopback_and_has_only_digits() {
    let read = |text: &str| Host::or_loopback(text).map(|host| host.to_string());
    assert_eq!(
        ["9100", ":9100", "h:9100"].map(read),
        ["127.0.0.1:9100", "127.0.0.1:9100", "h:9100"].map(|it| Ok(it.to_owned()))
    );
    for (text, why) in [("99999", "has a port above 65535"), ("+1", "is not HOST:PORT"), ("h:+1", "is not HOST:PORT")] {
        assert_eq!(read(text), Err(ParseError(format!("'{text}' {why}"))));
    }
}

#[test]
fn port_without_host_is_refused_with_a_hint() {
    let error = "8080".parse::<Host>().expect_err("no host");
    let line = error.to_string();
    assert!(line.starts_with("'8080' is not HOST:PORT") && line.contains(" :8080"), "{line}");
}

#[test]
fn link_local_groups_are_joined_on_the_named_interface() {
    if std::net::UdpSocket::bind("[::1]:0").is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    for text in ["[ff12::8]:0?iface=lo", "[ff11::8]:0?iface=lo", "[ff12::8%lo]:0", "[ff15::8]:0?iface=lo"] {
        let group: Udp = text.parse().expect(text);
        group.receiving().unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn multicast_options_are_refused_for_unicast_addresses() {
    for text in ["127.0.0.1:5000?ttl=4", "[::1%lo]:5000?iface=lo", ":5000?iface=lo"] {
        assert!(text.parse::<Udp>().expect_err(text).to_string().contains("not a multicast group"));
    }
    let udp: Udp = "localhost:0?ttl=4".parse().expect("what a name stands for is not known yet");
    assert!(udp.receiving().is_err());
    let udp: Udp = "239.1.1.1:0?iface=no-such-if0".parse().expect("well formed");
    assert!(udp.receiving().expect_err("no such interface").to_string().contains("no-such-if0"));
}
