//! Decodability: one state of a lossless sender a line, and the effect of each packet that it could send.

use std::io::{self, Write};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thalweg_core::law::ParameterError;
use thalweg_core::law::schedule::channel::Channel;
use thalweg_core::law::schedule::cost::Cost;
use thalweg_core::law::schedule::cost_based::{self, CostBased};
use thalweg_core::law::schedule::decodability::Decodability;
use thalweg_core::law::schedule::{Coded, Decision, Next, Overhead, Path, Queue, Schedule, View};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::time::{Span, Time};

use super::line::parsed;
use super::{Replayed, write_answer};

/// The cost-based law without a bound on the overhead, and its last answer.
pub(super) struct Senders {
    cost: Cost,
    law: CostBased,
    answer: Option<Answer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sender {
    eps: f64,
    b: u64,
    d: u64,
    /// The last queued original; one before `d` if nothing is unsent.
    e: i64,
    received: Vec<(u64, u64)>,
    in_flight: Vec<(u64, u64)>,
    #[serde(deserialize_with = "account")]
    overhead: Account,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Account {
    useless: u64,
    received: u64,
    in_flight: u64,
    sum_p_useless: f64,
}

/// Parses an object only: serde takes an array of its values for it.
fn account<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Account, D::Error> {
    let values = serde_json::Value::deserialize(deserializer)?;
    if !values.is_object() {
        return Err(D::Error::custom("overhead must be an object"));
    }
    Account::deserialize(values).map_err(D::Error::custom)
}

#[derive(Serialize)]
struct Answer {
    p: Vec<f64>,
    q: f64,
    candidates: Vec<Candidate>,
    /// `None` if there is nothing to send.
    choice: Option<Chosen>,
}

#[derive(Serialize)]
struct Candidate {
    #[serde(flatten)]
    packet: Chosen,
    p: Vec<f64>,
    q: f64,
    cost: f64,
    p_useless: f64,
    #[serde(serialize_with = "perhaps_infinite")]
    overhead: f64,
}

#[derive(Clone, Copy, Serialize)]
struct Chosen {
    kind: &'static str,
    last: u64,
}

/// The most originals, sent or unsent, in a state: no sender of Thalweg has more.
const LARGEST: u64 = 4095;
/// No bound on the overhead: U_MAX belongs to the sender, not to the choice.
const UNBOUNDED: f64 = 1e6;

impl Senders {
    /// The law with the cost that `settings` define.
    pub(super) fn new(settings: &[(String, String)]) -> Result<Senders, ParameterError> {
        let mut cost = Cost::default();
        settings.iter().try_for_each(|(name, value)| cost.set(name, value))?;
        let parameters = cost_based::Parameters { cost: cost.clone(), u_max: UNBOUNDED, cap: None };
        Ok(Senders { cost, law: CostBased::new(parameters)?, answer: None })
    }

    fn answer(&mut self, sender: &Sender) -> Result<Answer, String> {
        let queue = sender.queue()?;
        let eps = sender.eps;
        let mut now = Decodability::default();
        now.evaluate(&queue, &Channel::independent(eps), |_| 1.0);
        let overhead = sender.overhead.account()?;
        let candidate = |packet: Chosen, decision: Decision, q: f64, cost: f64| Candidate {
            packet,
            p: p_after(&queue, eps, &decision),
            q,
            cost,
            p_useless: decision.p_useless,
            overhead: overhead.with(decision.p_useless),
        };
        let new = (queue.m() > 0).then(|| {
            let packet = Chosen { kind: "orig", last: queue.d() };
            candidate(packet, Decision::NEW, now.q_new(), self.cost.of_new(&queue, &now, eps))
        });
        let repair = (0..queue.n()).map(|nth| {
            let last = queue.b() + nth as u64;
            let decision = Decision::repair(&queue, last, now.p()[nth]);
            let cost = self.cost.of_repair(&queue, &now, eps, nth);
            candidate(Chosen { kind: "fec", last }, decision, now.q_repaired(nth), cost)
        });
        let candidates = new.into_iter().chain(repair).collect();
        let path = Path { eps, channel: Channel::independent(eps), rtt: Span::ZERO, slot: Span::ZERO };
        let decision = self.law.choose(&View { now: Time::ZERO, queue: &queue, path });
        Ok(Answer { p: now.p().to_vec(), q: now.q(), candidates, choice: chosen(&queue, decision.next) })
    }
}

impl Sender {
    fn queue(&self) -> Result<Queue, String> {
        if !(0.0..1.0).contains(&self.eps) {
            return Err("eps must be at least 0 and below 1".to_owned());
        }
        let sent = self.d.checked_sub(self.b).ok_or("d must be at least b")?;
        let unsent = i128::from(self.e) + 1 - i128::from(self.d);
        let unsent = u64::try_from(unsent).map_err(|_| "e must be at least d - 1")?;
        if sent > LARGEST || unsent > LARGEST {
            return Err(format!("d - b and e - d + 1 must be at most {LARGEST}"));
        }
        let mut queue = Queue::standing(self.b, sent as usize, unsent as usize);
        for (arrived, pairs) in [(true, &self.received), (false, &self.in_flight)] {
            for (first, last) in pairs.iter().copied() {
                if first > last {
                    return Err(format!("[{first},{last}]: first must be at most last"));
                }
                // A packet that is decoded already, or was never sent, changes nothing.
                if last < self.b || last >= self.d {
                    continue;
                }
                let packet = Coded { first, last, p_useless: 0.0 };
                queue.sent(&packet);
                if arrived {
                    queue.arrived_as(&packet, true);
                }
            }
        }
        Ok(queue)
    }
}

impl Account {
    fn account(&self) -> Result<Overhead, String> {
        let Account { useless, received, in_flight, sum_p_useless } = *self;
        if useless > received || !(0.0..=in_flight as f64).contains(&sum_p_useless) {
            return Err("overhead: useless must be at most received, sum_p_useless 0 to in_flight".to_owned());
        }
        Ok(Overhead { useless, received, in_flight, p_useless: sum_p_useless })
    }
}

impl Replayed for Senders {
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let sender: Sender = parsed(line)?;
        self.answer = Some(self.answer(&sender)?);
        Ok(())
    }

    fn write(&self, _shown: Option<&[&str]>, output: &mut dyn Write) -> io::Result<()> {
        write_answer(&self.answer, output)
    }
}

impl Probe for Senders {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

/// p_l once the packet of `decision` is in flight.
fn p_after(queue: &Queue, eps: f64, decision: &Decision) -> Vec<f64> {
    let mut sent = queue.clone();
    if let Some(packet) = decision.packet(queue) {
        sent.sent(&packet);
    }
    let mut after = Decodability::default();
    after.evaluate(&sent, &Channel::independent(eps), |_| 1.0);
    after.p().to_vec()
}

fn chosen(queue: &Queue, next: Next) -> Option<Chosen> {
    match next {
        Next::New => Some(Chosen { kind: "orig", last: queue.d() }),
        Next::Repair { last } | Next::Resend { original: last } => Some(Chosen { kind: "fec", last }),
        Next::Idle => None,
    }
}

fn perhaps_infinite<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
}
