//! Flows that share by their needs: the group of `thalweg share`, driven in virtual time.

use thalweg_core::law::rate;
use thalweg_core::law::rate::share::{Coupling, Event, Group as Shared, Id, MEASUREMENT_INTERVAL, Norm};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

use super::flow::Planned;
use super::{Group, Kind, Live, Part};
use crate::network::Network;

/// The coupling of the flows that have a need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// The source of their parameters.
    pub coupling: Coupling,
    /// The greediness of all together.
    pub norm: Norm,
}

/// The largest number of flows that share, that of `thalweg share`.
const MOST: usize = 32;
/// The time between two looks at the laws: a host's timer. A host also looks after each datagram.
const LOOK: Span = Span::from_millis(1);

/// Checks that there are flows to couple, and that all of them have a law that can be set.
pub(super) fn check(groups: &[Group]) -> Result<(), (Part, String)> {
    let sharing = || groups.iter().enumerate().filter(|(_, group)| group.need.is_some() && group.count > 0);
    for (nth, group) in sharing() {
        let refuse = |why: String| Err((Part::Group(nth), format!("group '{}' has a need, {why}", group.name)));
        match group.kind.most_under_gca() {
            None => return refuse("but no GCA law, whose parameters [share] could set".to_owned()),
            Some(most) if group.need.is_some_and(|need| need > most) => {
                return refuse(format!("expected at most its media rate, {most}"));
            }
            Some(_) => {}
        }
    }
    match sharing().map(|(_, group)| group.count).sum() {
        0 => Err((Part::Share, "no flow has a 'need', expected one or more".to_owned())),
        1..=MOST => Ok(()),
        flows => Err((Part::Share, format!("{flows} flows with a 'need', expected at most {MOST}"))),
    }
}

impl Kind {
    /// The media rate of its flows, if they have a GCA law.
    fn most_under_gca(&self) -> Option<Rate> {
        match self {
            Kind::Tfrc(media, Some(_)) | Kind::Live(Live { media, rate_law: Some(rate::Choice::Gca(_)), .. }) => {
                Some(media.rate)
            }
            _ => None,
        }
    }
}

/// The flows of a run that share, and their group.
#[derive(Debug)]
pub(super) struct Sharing {
    group: Shared,
    members: Vec<Member>,
    /// The time of the next look.
    next: Time,
    /// The time of the next measurement.
    measures: Time,
}

/// A flow that shares.
#[derive(Debug)]
struct Member {
    flow: u32,
    start: Time,
    need: Rate,
    most: Rate,
    has_joined: bool,
    /// The allowed rate that its law had when it was last read or set.
    allowed: Option<Rate>,
}

impl Sharing {
    /// The sharing of those flows that have a need, before the first of them starts.
    pub(super) fn new(share: Share, groups: &[Group], flows: &[Planned]) -> Sharing {
        let member = |(flow, planned): (u32, &Planned)| {
            let Group { need, kind, .. } = &groups[planned.group];
            let (need, most) = (*need).zip(kind.most_under_gca())?;
            Some(Member { flow, start: planned.start, need, most, has_joined: false, allowed: None })
        };
        Sharing {
            group: Shared::new(Time::ZERO, share.coupling, share.norm),
            members: (0..).zip(flows).filter_map(member).collect(),
            next: Time::ZERO,
            measures: Time::ZERO,
        }
    }

    /// The time at which [`Sharing::couple`] has work to do.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Passes measurements to the group, and the parameters that result to the flows.
    pub(super) fn couple(&mut self, now: Time, network: &mut Network) {
        self.next = now + LOOK;
        let is_due = now >= self.measures;
        if is_due {
            self.measures = now + MEASUREMENT_INTERVAL;
        }
        for member in self.members.iter_mut().filter(|member| member.start <= now) {
            let id = Id(member.flow);
            if !member.has_joined {
                member.has_joined = true;
                // A need is above 0, and at most the rate of the media.
                let _ = self.group.handle_need(now, id, member.need, member.most);
            }
            let Some(state) = network.gca(member.flow) else { continue };
            if is_due {
                self.group.handle_measurement(now, id, state.rtt, state.p);
            }
            if member.allowed != Some(state.allowed) {
                member.allowed = Some(state.allowed);
                self.group.handle_rate(id, state.allowed);
            }
        }
        self.group.handle_timeout(now);
        while let Some(event) = self.group.poll_event() {
            match event {
                Event::Changed(Id(flow), greediness) => network.set_greediness(flow, greediness),
                Event::Rate(Id(flow), rate) => {
                    network.set_allowed_rate(flow, rate);
                    let member = self.members.iter_mut().find(|member| member.flow == flow);
                    member.into_iter().for_each(|member| {
                        member.allowed = network.gca(flow).map(|state| state.allowed);
                    });
                }
                _ => {}
            }
        }
    }
}
