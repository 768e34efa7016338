//! Values that are found by a small number, which is reused once its value is gone.

/// Slots, as many as there ever were values at once.
#[derive(Debug)]
pub(super) struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Slots<T> {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Stores a value, and returns its number.
    pub(super) fn put(&mut self, value: T) -> usize {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(slot) {
            Some(empty) => *empty = Some(value),
            None => self.slots.push(Some(value)),
        }
        slot
    }

    /// The value of a number, if there is one.
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Removes the value of a number, and returns it.
    pub(super) fn take(&mut self, slot: usize) -> Option<T> {
        let value = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(value)
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slot_is_reused_after_its_value_is_taken() {
        let mut slots = Slots::default();
        let (a, b) = (slots.put('a'), slots.put('b'));
        assert_eq!((slots.take(a), slots.take(a), slots.len()), (Some('a'), None, 1));
        assert_eq!(slots.put('c'), a);
        assert_eq!(
            (slots.get_mut(a).copied(), slots.get_mut(b).copied(), slots.get_mut(2).copied()),
            (Some('c'), Some('b'), None)
        );
    }
}
