//! The nodes of a network.

use thalweg_core::law::window;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use super::Direction;
use crate::node::drop_tail::DropTail;
use crate::node::ends::{Origin, Sink};
use crate::node::queue::Waiting;
use crate::node::watched::Watched;
use crate::node::wifi::{Cell, Way};
use crate::node::{Node, Out, Tallied, Tally};
use crate::own::{self, RunningRepair, RunningWindow};
use crate::packet::Packet;
use crate::path::Element;
use crate::stream::counters::Sent;
use crate::tcp::sender::SenderCounters;
use crate::tfrc::{TfrcReceiver, TfrcSender};
use crate::{end, stream, tcp};

/// An enum with one variant per type, which is a node because each of the types is one. Calls are direct: the loop
/// makes several for every packet. Large types are boxed, so that links are close together in memory. The two calls
/// that the loop makes for every packet are inlined into it, and with them those of links, which are most nodes.
macro_rules! nodes {
    ($(#[$doc:meta])* $name:ident { $($variant:ident: $type:ty => $kept:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug)]
        #[allow(missing_docs, reason = "each variant is the type of its name")]
        pub enum $name {
            $($variant($kept),)*
        }

        impl Node for $name {
            fn accept(&mut self, now: Time, packet: Packet) {
                match self {
                    $($name::$variant(node) => node.accept(now, packet),)*
                }
            }

            fn next(&self) -> Option<Time> {
                match self {
                    $($name::$variant(node) => node.next(),)*
                }
            }

            fn poll(&mut self, now: Time) -> Option<Packet> {
                match self {
                    $($name::$variant(node) => node.poll(now),)*
                }
            }

            fn accept_at(&mut self, now: Time, inlet: usize, packet: Packet) {
                match self {
                    $($name::$variant(node) => node.accept_at(now, inlet, packet),)*
                }
            }

            fn outlet(&self) -> usize {
                match self {
                    $($name::$variant(node) => node.outlet(),)*
                }
            }

            #[inline(always)]
            fn take_in(&mut self, now: Time, packet: Packet) -> Time {
                match self {
                    $($name::$variant(node) => node.take_in(now, packet),)*
                }
            }

            #[inline(always)]
            fn hand_out(&mut self, now: Time) -> Out {
                match self {
                    $($name::$variant(node) => node.hand_out(now),)*
                }
            }
        }

        impl Tallied for $name {
            fn tally(&self) -> Tally {
                match self {
                    $($name::$variant(node) => node.tally(),)*
                }
            }
        }

        $(impl From<$type> for $name {
            fn from(node: $type) -> $name {
                $name::$variant(node.into())
            }
        })*
    };
}

nodes! {
    /// A node of a network. It cannot be cloned, since an association cannot.
    Part {
        Link: DropTail => DropTail,
        Other: Box<Element> => Box<Element>,
        Cell: Cell => Box<Cell>,
        Origin: Origin => Box<Origin>,
        Sink: Sink => Sink,
        TcpSender: tcp::Sender<window::Law> => Box<tcp::Sender<window::Law>>,
        OwnTcpSender: tcp::Sender<RunningWindow> => Box<tcp::Sender<RunningWindow>>,
        TcpReceiver: tcp::Receiver => Box<tcp::Receiver>,
        TfrcSender: TfrcSender => Box<TfrcSender>,
        TfrcReceiver: TfrcReceiver => Box<TfrcReceiver>,
        StreamSender: stream::sender::Sender => Box<stream::sender::Sender>,
        OwnStreamSender: stream::sender::Sender<RunningRepair> => Box<stream::sender::Sender<RunningRepair>>,
        StreamReceiver: stream::receiver::Receiver => Box<stream::receiver::Receiver>,
        LiveSender: end::live::Sender => Box<end::live::Sender>,
        LiveReceiver: end::live::Receiver => Box<end::live::Receiver>,
        TunnelSender: end::tunnel::Sender => Box<end::tunnel::Sender>,
        TunnelReceiver: end::tunnel::Receiver => Box<end::tunnel::Receiver>,
        StoredSender: end::stored::Sender => Box<end::stored::Sender>,
        StoredReceiver: end::stored::Receiver => Box<end::stored::Receiver>,
        Watched: Watched<Part> => Box<Watched<Part>>,
    }
}

impl From<Element> for Part {
    fn from(element: Element) -> Part {
        match element {
            Element::DropTail(link) => Part::Link(link),
            other => Part::Other(Box::new(other)),
        }
    }
}

impl Part {
    /// The drop-tail link, if it is one.
    pub fn as_drop_tail(&self) -> Option<&DropTail> {
        match self {
            Part::Link(link) => Some(link),
            Part::Watched(watched) => watched.node().as_drop_tail(),
            _ => None,
        }
    }

    /// The Wi-Fi cell, if it is one.
    pub fn as_cell(&self) -> Option<&Cell> {
        match self {
            Part::Cell(cell) => Some(cell),
            Part::Watched(watched) => watched.node().as_cell(),
            _ => None,
        }
    }

    /// The counters of a TCP sender, if it is one.
    pub fn tcp_counters(&self) -> Option<SenderCounters> {
        match self {
            Part::TcpSender(sender) => Some(sender.counters()),
            Part::OwnTcpSender(sender) => Some(sender.counters()),
            _ => None,
        }
    }

    /// The counters of a stream's sender, if it is one of [`crate::stream`].
    pub fn stream_counters(&self) -> Option<Sent> {
        match self {
            Part::StreamSender(sender) => Some(sender.sent()),
            Part::OwnStreamSender(sender) => Some(sender.sent()),
            _ => None,
        }
    }

    /// The fault of a law of one's own, if it has had one.
    pub fn fault(&self) -> Option<&own::Fault> {
        match self {
            Part::OwnTcpSender(sender) => sender.law().fault(),
            Part::OwnStreamSender(sender) => sender.law().running().fault(),
            _ => None,
        }
    }

    /// Packets of one flow that a link or an element has lost; of a cell, those of one direction.
    pub(super) fn lost_of(&self, flow: u32, direction: Direction) -> u64 {
        match self {
            Part::Link(link) => link.lost_of(flow),
            Part::Other(element) => element.lost_of(flow),
            Part::Cell(cell) => cell.lost_of(flow, way(direction)),
            Part::Watched(watched) => watched.node().lost_of(flow, direction),
            _ => 0,
        }
    }

    /// The total time that the packets of one flow waited in a queue, if the node has one that counts it.
    pub(super) fn waited_of(&self, flow: u32, direction: Direction) -> Option<Span> {
        match self {
            Part::Link(link) => Some(link.waited_of(flow)),
            Part::Cell(cell) => Some(cell.waited_of(flow, way(direction))),
            Part::Watched(watched) => watched.node().waited_of(flow, direction),
            _ => None,
        }
    }

    /// Packets that wait in the queue of a link, an element or one direction of a cell at `now`; none if it has no
    /// queue.
    pub(super) fn waiting(&self, now: Time, direction: Direction) -> Option<Waiting> {
        match self {
            Part::Link(link) => Some(link.waiting(now)),
            Part::Other(element) => element.waiting(now),
            Part::Cell(cell) => Some(cell.waiting(way(direction))),
            Part::Watched(watched) => watched.node().waiting(now, direction),
            _ => None,
        }
    }
}

/// The way through a cell: its access point is at the senders' end.
pub(super) fn way(direction: Direction) -> Way {
    match direction {
        Direction::Forward => Way::Down,
        Direction::Backward => Way::Up,
    }
}

impl Probe for Part {
    /// Reports the state of an endpoint; links and elements report nothing.
    fn probe(&self, visit: &mut Visitor<'_>) {
        match self {
            Part::TcpSender(end) => end.probe(visit),
            Part::OwnTcpSender(end) => end.probe(visit),
            Part::TcpReceiver(end) => end.probe(visit),
            Part::StreamSender(end) => end.probe(visit),
            Part::OwnStreamSender(end) => end.probe(visit),
            Part::LiveSender(end) => end.probe(visit),
            Part::LiveReceiver(end) => end.probe(visit),
            Part::TunnelSender(end) => end.probe(visit),
            Part::TunnelReceiver(end) => end.probe(visit),
            Part::StoredReceiver(end) => end.session().probe(visit),
            Part::TfrcSender(end) => end.law().probe(visit),
            Part::TfrcReceiver(end) => end.law().probe(visit),
            Part::Link(_)
            | Part::Other(_)
            | Part::Cell(_)
            | Part::Origin(_)
            | Part::Sink(_)
            | Part::StreamReceiver(_)
            | Part::StoredSender(_)
            | Part::Watched(_) => {}
        }
    }
}
