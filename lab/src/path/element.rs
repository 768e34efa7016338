//! The elements of a path, and the sources of cross traffic, as plain values.

use thalweg_core::time::{Span, Time};

use crate::node::queue::Waiting;
use crate::node::{Node, Tallied, Tally};
use crate::node::{corrupt, drop_tail, duplicate, jitter, loss, recorded, reorder, tap, trace_link, wire};
use crate::packet::Packet;
use crate::traffic::{Source, cbr, on_off, poisson, video_model, video_trace};

/// An enum with one variant per type, which gives access to the trait that they have in common.
macro_rules! one_of {
    ($(#[$doc:meta])* $name:ident: $common:ident { $($module:ident::$variant:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs, reason = "each variant is the type of its name")]
        pub enum $name {
            $($variant($module::$variant),)*
        }

        $(impl From<$module::$variant> for $name {
            fn from(value: $module::$variant) -> $name {
                $name::$variant(value)
            }
        })*

        impl $name {
            pub(crate) fn node(&self) -> &dyn $common {
                match self {
                    $($name::$variant(value) => value,)*
                }
            }

            pub(crate) fn node_mut(&mut self) -> &mut dyn $common {
                match self {
                    $($name::$variant(value) => value,)*
                }
            }
        }
    };
}

one_of! {
    /// An element of a path.
    Element: Tallied {
        wire::Wire,
        drop_tail::DropTail,
        trace_link::TraceLink,
        loss::Loss,
        jitter::Jitter,
        reorder::Reorder,
        duplicate::Duplicate,
        corrupt::Corrupt,
        recorded::Recorded,
        tap::Tap,
    }
}

one_of! {
    /// A source of cross traffic.
    Traffic: Source {
        cbr::Cbr,
        on_off::OnOff,
        poisson::Poisson,
        video_trace::VideoTrace,
        video_model::VideoModel,
    }
}

impl Element {
    /// Packets of one flow that the element has lost; those of a drop-tail queue only if it counts by flow.
    pub(crate) fn lost_of(&self, flow: u32) -> u64 {
        match self {
            Element::DropTail(link) => link.lost_of(flow),
            Element::TraceLink(link) => link.lost_of(flow),
            Element::Loss(loss) => loss.lost_of(flow),
            Element::Recorded(recorded) => recorded.lost_of(flow),
            Element::Wire(_)
            | Element::Jitter(_)
            | Element::Reorder(_)
            | Element::Duplicate(_)
            | Element::Corrupt(_)
            | Element::Tap(_) => 0,
        }
    }

    /// Packets that wait in the element at `now`; none if it has no queue.
    pub(crate) fn waiting(&self, now: Time) -> Option<Waiting> {
        match self {
            Element::DropTail(link) => Some(link.waiting(now)),
            Element::TraceLink(link) => Some(link.waiting()),
            _ => None,
        }
    }
}

impl Node for Element {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.node_mut().accept(now, packet);
    }

    fn next(&self) -> Option<Time> {
        self.node().next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.node_mut().poll(now)
    }

    fn least_delay(&self) -> Span {
        self.node().least_delay()
    }
}

impl Tallied for Element {
    fn tally(&self) -> Tally {
        self.node().tally()
    }
}
