//! Control messages of a receiver: echoes and reports in, probes and flow control messages out.

use super::Receiver;
use crate::session::stored::control::Control;
use crate::time::{Span, Time};
use crate::wire;
use crate::wire::rtcp::{App, Compound, Goodbye, Nack, Packet, Writer};
use crate::wire::stored::{FlowControl, GroupReport, Message, NAME, Probe};

impl Receiver {
    pub(super) fn on_control(&mut self, now: Time, bytes: &[u8]) -> Result<(), wire::Error> {
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::App(app) => match Message::parse(&app)? {
                    Some(Message::Echo(echo)) if self.period.is_none() => {
                        self.token = echo.token;
                        self.probes.echo(now, echo.number);
                    }
                    Some(Message::Report(report)) => self.on_report(now, &report),
                    _ => {}
                },
                Packet::Report(report) => {
                    if let Some(sender) = report.sender {
                        self.reception.on_sender_report(now, report.ssrc, sender.ntp);
                    }
                }
                Packet::Goodbye(goodbye) if self.reception.any(|ssrc| goodbye.names(ssrc)) => {
                    self.is_cut_off = self.end.is_none();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the report on a group that a message of this session has begun.
    fn on_report(&mut self, now: Time, report: &GroupReport<'_>) {
        if self.period.as_ref().is_none_or(|period| report.number > period.number) {
            return;
        }
        self.groups.report(report, &mut self.arrivals);
        for (index, class, is_skipped) in report.described() {
            self.bank.describe(now, index, class, is_skipped);
        }
        if report.is_end {
            self.end = Some(report.first.saturating_add(report.frames.into()));
            self.is_cut_off = false;
        }
        self.answered(now, report.number);
    }

    /// Writes the flow control message of this period, with the packets asked for.
    fn write_message(&mut self, now: Time, writer: &mut Writer<'_>) -> Option<()> {
        let playout = self.playout(now).unwrap_or(Span::ZERO);
        let period = self.period.as_mut()?;
        self.reception.write(now, self.ssrc, writer).ok()?;
        // Reading(R3CP+ §3.2): the controls without selective transmission send every frame, late or not.
        let playout = if self.law.control() == Control::R3cpPlus { playout } else { Span::ZERO };
        let message = Message::FlowControl(FlowControl {
            token: self.token,
            number: period.number,
            rho: period.decision.rho,
            lambda: period.decision.lambda,
            period: Span::from_secs_f64(period.d.0),
            playout,
            mode: self.law.control().mode(),
        });
        let (subtype, data) = message.emit();
        writer.push(&App { subtype, ssrc: self.ssrc, name: NAME, data: &data }).ok()?;
        for (track, sequences) in core::mem::take(&mut period.asked).into_iter().enumerate() {
            let Some(media_ssrc) = self.reception.ssrc(track).filter(|_| !sequences.is_empty()) else { continue };
            let entries = Nack::entries_of(sequences.iter().map(|sequence| *sequence as u16));
            if writer.push(&Nack { sender_ssrc: self.ssrc, media_ssrc, entries: &entries }).is_ok() {
                sequences.iter().for_each(|sequence| self.arrivals[track].ask(now, *sequence));
                self.totals.asked += sequences.len() as u64;
            }
        }
        Some(())
    }

    /// Writes the control packet that is due, if any.
    pub(super) fn write_control(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(buf);
        if let Some(left) = self.goodbyes {
            self.goodbyes = Some(left.checked_sub(1)?);
            writer.push(&Goodbye { sources: &[self.ssrc.to_be_bytes()], reason: b"" }).ok()?;
            return Some(writer.len());
        }
        match &mut self.period {
            None => {
                let number = self.probes.transmit(now)?;
                let (subtype, data) = Message::Probe(Probe { key: self.config.key, number }).emit();
                writer.push(&App { subtype, ssrc: self.ssrc, name: NAME, data: &data }).ok()?;
            }
            Some(period) if period.is_message_due => {
                period.is_message_due = false;
                self.write_message(now, &mut writer)?;
            }
            Some(_) => return None,
        }
        Some(writer.len())
    }
}
