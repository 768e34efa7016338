//! Things that are found by a small number, which is given again once its thing is gone.

/// Up to as many as there were at once.
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
    /// Keeps a thing, and tells its number.
    pub(super) fn put(&mut self, thing: T) -> usize {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        match self.slots.get_mut(slot) {
            Some(empty) => *empty = Some(thing),
            None => self.slots.push(Some(thing)),
        }
        slot
    }

    /// The thing of a number, if there is one.
    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut T> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Gives the thing of a number away.
    pub(super) fn take(&mut self, slot: usize) -> Option<T> {
        let thing = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(thing)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_free_again_once_its_thing_is_gone() {
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
