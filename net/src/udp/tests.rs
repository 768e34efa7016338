use super::*;
use crate::poll;
use std::time::Duration;

fn loopback() -> Socket {
    Socket::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a loopback socket")
}

fn send_all(from: &mut Socket, to: SocketAddr, datagrams: &[Vec<u8>]) {
    let mut outbox = Outbox::new();
    for datagram in datagrams {
        outbox.space()[..datagram.len()].copy_from_slice(datagram);
        outbox.push(from, to, datagram.len());
    }
    outbox.flush(from);
}

fn receive(socket: &Socket, wanted: usize) -> Vec<Vec<u8>> {
    let mut inbox = Inbox::new();
    let mut received = Vec::new();
    while received.len() < wanted {
        assert!(
            poll::readable(socket, Duration::from_secs(10)).expect("ppoll"),
            "{} of {wanted} arrived",
            received.len()
        );
        socket.receive(&mut inbox);
        received.extend(inbox.datagrams().map(|(_, bytes)| bytes.to_vec()));
    }
    received
}

#[test]
fn batching_keeps_boundaries_and_order_for_any_sizes() {
    let (mut from, to) = (loopback(), loopback());
    let sizes = [1316, 1316, 1316, 188, 1316, 1400, 1, 0, 0, 700, 700, 1500, 1500, 2];
    let datagrams: Vec<Vec<u8>> = (0u8..).zip(sizes).map(|(mark, size)| vec![mark; size]).collect();
    send_all(&mut from, to.local(), &datagrams);
    assert_eq!(receive(&to, datagrams.len()), datagrams);
    assert_eq!(from.unsent(), 0);
}

#[test]
fn datagrams_beyond_one_batch_arrive_whole() {
    let (mut from, to) = (loopback(), loopback());
    let datagrams: Vec<Vec<u8>> = (0..=255u8).map(|mark| vec![mark; 1316]).collect();
    send_all(&mut from, to.local(), &datagrams);
    assert_eq!(receive(&to, datagrams.len()), datagrams);
}

#[test]
fn datagrams_to_a_closed_port_do_not_stop_the_socket() {
    let closed_port = loopback().local();
    let (mut from, to) = (loopback(), loopback());
    for _ in 0..3 {
        send_all(&mut from, closed_port, &[vec![1; 100]]);
    }
    send_all(&mut from, to.local(), &[vec![2; 100]]);
    assert_eq!(receive(&to, 1), [vec![2; 100]]);
    assert_eq!(from.unsent(), 0);
}

#[test]
fn unreachable_port_is_reported_once_and_sending_continues() {
    let closed_port = loopback().local();
    let to = loopback();
    let mut from = Socket::sending(unspecified(closed_port), closed_port, Multicast::default()).expect("loopback");
    from.hear_errors().expect("Linux");
    assert!(!from.take_unreachable());
    for _ in 0..3 {
        send_all(&mut from, closed_port, &[vec![1; 100]]);
    }
    // On loopback, ICMP's answer arrives before the call returns.
    assert!(from.take_unreachable());
    assert!(!from.take_unreachable(), "reported once");
    send_all(&mut from, to.local(), &[vec![2; 100]]);
    assert_eq!(receive(&to, 1), [vec![2; 100]]);
    assert_eq!(from.unsent(), 0);
    assert!(!poll::readable(&from, Duration::ZERO).expect("ppoll"), "nothing stays to wake a poll");
}

#[test]
fn multicast_ttl_is_as_set_and_one_by_default() {
    let group = SocketAddr::from(([239, 255, 42, 98], 5004));
    let ttl = |ttl| {
        let multicast = Multicast { ttl, ..Multicast::default() };
        Socket::sending(unspecified(group), group, multicast).expect("a socket").multicast_ttl().expect("a number")
    };
    // RFC 1112 §6.1.
    assert_eq!([ttl(None), ttl(Some(0)), ttl(Some(5)), ttl(Some(255))], [1, 0, 5, 255]);
}

#[test]
fn route_to_a_group_has_the_source_address_that_receivers_see() {
    let lo = std::fs::read_to_string("/sys/class/net/lo/ifindex").expect("Linux");
    let multicast = Multicast { interface: lo.trim().parse().ok(), ttl: None };
    let any = SocketAddr::from(([239, 255, 42, 98], 0));
    let receiver = Socket::receiving(any, multicast).expect("loopback");
    let to = receiver.local();
    let mut sender = Socket::sending(unspecified(to), to, multicast).expect("loopback");
    send_all(&mut sender, to, &[vec![7; 100]]);
    assert!(poll::readable(&receiver, Duration::from_secs(10)).expect("ppoll"));
    let mut inbox = Inbox::new();
    receiver.receive(&mut inbox);
    let seen: Vec<_> = inbox.datagrams().map(|(from, _)| from.ip()).collect();
    assert_eq!(seen, [route_to(to, multicast).expect("a way").ip()]);
}

#[test]
fn datagrams_refused_by_the_kernel_are_counted() {
    let mut from = loopback();
    // A socket bound to loopback has no route to a documentation address (RFC 5737).
    send_all(&mut from, SocketAddr::from(([192, 0, 2, 1], 9)), &[vec![0; 10], vec![0; 10]]);
    assert_eq!(from.unsent(), 2);
    assert!(from.take_error().is_some());
    assert!(from.take_error().is_none());
}
