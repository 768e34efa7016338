//! The velocity of the window (§2.1, step 4).

/// Round trips in the same direction before the velocity doubles: "only after the direction has remained the same for
/// three RTTs", since in equilibrium it remains so for 2.5.
const DIRECTION_RTTS: u32 = 3;

/// v, and the direction of the window.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Velocity {
    v: f64,
    direction: Option<Direction>,
    /// Consecutive round trips in the direction of the one before them.
    same: u32,
}

/// The direction of cwnd in a round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Velocity {
    /// A velocity of one, without a direction.
    pub(super) fn new() -> Velocity {
        Velocity { v: 1.0, direction: None, same: 0 }
    }

    pub(super) fn get(&self) -> f64 {
        self.v
    }

    /// Ends a round trip in which cwnd went from `before` to `now`.
    ///
    /// `most` is the upper bound of the velocity.
    pub(super) fn end_round_trip(&mut self, before: f64, now: f64, most: f64) {
        let direction = match now.partial_cmp(&before) {
            Some(core::cmp::Ordering::Greater) => Some(Direction::Up),
            Some(core::cmp::Ordering::Less) => Some(Direction::Down),
            _ => None,
        };
        if direction.is_none() || direction != self.direction {
            *self = Velocity { direction, ..Velocity::new() };
            return;
        }
        self.same += 1;
        if self.same >= DIRECTION_RTTS {
            self.v = (self.v * 2.0).min(most.max(1.0));
        }
    }

    /// Takes the direction of the next step of cwnd.
    pub(super) fn turn(&mut self, direction: Direction) {
        if self.v > 1.0 && self.direction != Some(direction) {
            // Deviation(Copa §2.1): a velocity gained on the way to the target does not carry cwnd past it. The paper
            // resets it only at the end of a round trip, and a round trip that turned late still counts as the old
            // direction.
            *self = Velocity { direction: Some(direction), ..Velocity::new() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocity_doubles_after_three_windows_in_one_direction_and_resets() {
        let mut velocity = Velocity::new();
        let mut seen = Vec::new();
        for window in 0..6 {
            velocity.end_round_trip(f64::from(window), f64::from(window + 1), 100.0);
            seen.push(velocity.get());
        }
        assert_eq!(seen, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
        velocity.end_round_trip(2.0, 1.0, 100.0);
        assert_eq!(velocity.get(), 1.0);
    }

    #[test]
    fn equilibrium_oscillation_never_doubles_the_velocity() {
        // §3: 2.5 round trips up, 2.5 down, and so on; windows begin anywhere on the way.
        let triangle = |at: f64| 2.5 - (at.rem_euclid(5.0) - 2.5).abs();
        for offset in 0..50 {
            let mut velocity = Velocity::new();
            for window in 0..40 {
                let start = f64::from(offset) / 10.0 + f64::from(window);
                velocity.end_round_trip(triangle(start), triangle(start + 1.0), 100.0);
                assert_eq!(velocity.get(), 1.0);
            }
        }
    }

    #[test]
    fn velocity_is_bounded_and_resets_when_the_window_stands_still() {
        let mut velocity = Velocity::new();
        (0..20).for_each(|window| velocity.end_round_trip(f64::from(window), f64::from(window + 1), 10.0));
        assert_eq!(velocity.get(), 10.0);
        velocity.end_round_trip(7.0, 7.0, 10.0);
        assert_eq!(velocity.get(), 1.0);
    }

    #[test]
    fn velocity_resets_when_the_direction_changes() {
        let mut velocity = Velocity::new();
        (0..6).for_each(|window| velocity.end_round_trip(f64::from(window), f64::from(window + 1), 100.0));
        velocity.turn(Direction::Up);
        assert_eq!(velocity.get(), 8.0);
        velocity.turn(Direction::Down);
        assert_eq!(velocity.get(), 1.0);
    }
}
