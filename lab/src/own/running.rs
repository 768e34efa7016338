//! A law of one's own in a run, until its first fault.

use core::fmt;

use thalweg_core::time::Time;

use super::{Context, Fault, Law};

/// A law `L` of one flow, and the values `V` that it gave after its last event: the sender reads the values for every
/// packet, and calls the law once an event. After a fault the law is gone, and the values are the default ones.
pub struct Running<L: ?Sized, V> {
    law: Result<Box<L>, Fault>,
    flow: u32,
    group: String,
    values: V,
}

impl<L: ?Sized, V: Default> Running<L, V> {
    /// The law of the flow of `context`, whose first values `read` gives.
    pub(super) fn new<C>(
        law: &Law<L, C>,
        context: &Context<C>,
        read: impl FnOnce(&mut L) -> Result<V, String>,
    ) -> Running<L, V> {
        let (flow, group) = (context.flow, context.group.clone());
        let started = (law.constructor)(context);
        let law = started.map_err(|text| Fault { flow, group: group.clone(), at: Time::ZERO, text });
        let mut running = Running { law, flow, group, values: V::default() };
        running.handle(Time::ZERO, read);
        running
    }

    /// Passes an event to the law, and keeps the values that result.
    pub(super) fn handle(&mut self, now: Time, event: impl FnOnce(&mut L) -> Result<V, String>) {
        let Ok(law) = &mut self.law else { return };
        match event(law) {
            Ok(values) => self.values = values,
            Err(text) => {
                self.law = Err(Fault { flow: self.flow, group: self.group.clone(), at: now, text });
                self.values = V::default();
            }
        }
    }
}

impl<L: ?Sized, V> Running<L, V> {
    /// The fault that has ended the law, if one has.
    pub fn fault(&self) -> Option<&Fault> {
        self.law.as_ref().err()
    }

    /// The law, unless a fault has ended it.
    pub(super) fn law(&self) -> Option<&L> {
        self.law.as_deref().ok()
    }

    /// The values after the last event.
    pub(super) fn values(&self) -> &V {
        &self.values
    }
}

impl<L: ?Sized, V: fmt::Debug> fmt::Debug for Running<L, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Running");
        shown.field("flow", &self.flow).field("group", &self.group).field("values", &self.values);
        shown.field("fault", &self.fault()).finish_non_exhaustive()
    }
}
