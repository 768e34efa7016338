//! Several receivers that call one sender: the first to prove its address has the stream.

use core::net::SocketAddr;

use thalweg_core::session::Session;
use thalweg_core::session::live::carried::Carried;
use thalweg_core::session::live::receiver::{Event as Heard, Receiver};
use thalweg_core::session::live::sender::Event as Said;
use thalweg_core::time::Time;

use super::{calling, story, streaming};
use crate::live::keys::Keys;
use crate::live::outsider::{heard_at, said};
use crate::live::props::at;
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

/// A receiver at another address, which exchanges datagrams with the story's sender without delay.
pub(super) struct Caller {
    pub(super) at: SocketAddr,
    pub(super) session: Carried<Receiver>,
    pub(super) events: Vec<(Time, Heard)>,
    /// The lengths of the datagrams that it has sent and received.
    pub(super) sent: Vec<usize>,
    pub(super) received: Vec<usize>,
}

impl Caller {
    pub(super) fn new(keys: Option<&mut Keys>, now: Time, seed: u64) -> Caller {
        let session = Keys::receiver(keys, calling(), now, seed);
        let at = SocketAddr::from(([10, 6, 6, 6], 600 + seed as u16));
        Caller { at, session, events: Vec::new(), sent: Vec::new(), received: Vec::new() }
    }

    /// Runs the caller until `millis`, every 10 ms.
    pub(super) fn talk(&mut self, story: &mut Story, until: u64) {
        for millis in (story.now.as_nanos() / 1_000_000..until).step_by(10) {
            story.until(millis);
            if self.session.poll_timeout().is_some_and(|due| due <= story.now) {
                self.session.handle_timeout(story.now);
            }
            while self.session.poll_media(story.now).is_some() {}
            for datagram in said(&mut self.session, story.now) {
                self.sent.push(datagram.len());
                let _ = story.sender.handle_datagram(story.now, self.at, &datagram);
            }
            story.until(millis + 1);
            for datagram in heard_at(story, self.at) {
                self.received.push(datagram.len());
                let _ = self.session.handle_datagram(story.now, story.sender_at, &datagram);
            }
            let (now, session) = (story.now, &mut self.session);
            self.events.extend(core::iter::from_fn(|| session.poll_event()).map(|event| (now, event)));
        }
    }
}

stories! {
    [geneva, geneva_keyed, auto, auto_keyed]:
    a_second_caller_hears_busy_and_gets_the_stream_when_the_first_leaves,
    two_that_call_at_once_do_not_get_in_each_others_way,
}

fn a_second_caller_hears_busy_and_gets_the_stream_when_the_first_leaves(variant: Variant) {
    let mut story = streaming(variant);
    let mut second = Caller::new(story.keys.as_mut(), story.now, 66);
    second.talk(&mut story, 6000);
    assert_eq!(second.events.iter().map(|(_, event)| *event).collect::<Vec<_>>(), [Heard::Busy], "once");
    assert_eq!((story.lost(0, 5900), story.sender_events.len()), (0, 1), "{:?}", story.sender_events);
    assert!(second.received.iter().sum::<usize>() < second.sent.iter().sum::<usize>());
    story.receiver.finish();
    second.talk(&mut story, 9000);
    assert!(
        second.events.iter().any(|(_, event)| matches!(event, Heard::Started { from, .. } if *from == story.sender_at))
    );
    let (when, event) = *story.sender_events.last().expect("events");
    assert!(matches!(event, Said::Connected { to, .. } if to == second.at), "{event:?}");
    // Requests leave every second by then.
    assert!(when < at(7200), "{when:?}");
}

fn two_that_call_at_once_do_not_get_in_each_others_way(variant: Variant) {
    let mut story = story(variant);
    let mut second = Caller::new(story.keys.as_mut(), story.now, 66);
    second.talk(&mut story, 1000);
    let connected: Vec<SocketAddr> = story
        .sender_events
        .iter()
        .filter_map(|(_, said)| if let Said::Connected { to, .. } = said { Some(*to) } else { None })
        .collect();
    assert_eq!(connected, [second.at], "the one with the shorter path, and it stays");
    assert!(story.receiver_events.iter().all(|(_, heard)| *heard == Heard::Busy), "{:?}", story.receiver_events);
}
