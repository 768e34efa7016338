//! How fast the window moves (§2.1, step 4).

/// Round trips that must have gone the same way before the velocity doubles: "only after the direction has remained the same
/// for three RTTs", since in equilibrium it remains so for 2.5.
const PATIENCE: u32 = 3;

/// v, and the direction that it follows from.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Velocity {
    v: f64,
    direction: Option<Direction>,
    /// Round trips in a row that went the way of the one before them.
    same: u32,
}

/// Where cwnd went in a round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Velocity {
    /// One, and no direction yet.
    pub(super) fn new() -> Velocity {
        Velocity { v: 1.0, direction: None, same: 0 }
    }

    pub(super) fn get(&self) -> f64 {
        self.v
    }

    /// A round trip is over, in which cwnd went from `before` to `now`.
    ///
    /// `most` bounds the velocity.
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
        if self.same >= PATIENCE {
            self.v = (self.v * 2.0).min(most.max(1.0));
        }
    }

    /// cwnd is about to go `direction`.
    pub(super) fn turn(&mut self, direction: Direction) {
        if self.v > 1.0 && self.direction != Some(direction) {
            // Deviation(Copa §2.1): a velocity gained on the way to the target does not carry cwnd past it. The paper resets
            // it at the end of a round trip only, and one that turned late still counts as going on.
            *self = Velocity { direction: Some(direction), ..Velocity::new() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_from_the_fourth_window_on_that_goes_the_same_way_and_another_way_ends_it() {
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
    fn the_two_and_a_half_round_trips_of_the_equilibrium_never_double_it() {
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
    fn it_is_bounded_and_a_window_that_stands_still_has_none() {
        let mut velocity = Velocity::new();
        (0..20).for_each(|window| velocity.end_round_trip(f64::from(window), f64::from(window + 1), 10.0));
        assert_eq!(velocity.get(), 10.0);
        velocity.end_round_trip(7.0, 7.0, 10.0);
        assert_eq!(velocity.get(), 1.0);
    }

    #[test]
    fn turning_back_at_speed_begins_at_one() {
        let mut velocity = Velocity::new();
        (0..6).for_each(|window| velocity.end_round_trip(f64::from(window), f64::from(window + 1), 100.0));
        velocity.turn(Direction::Up);
        assert_eq!(velocity.get(), 8.0);
        velocity.turn(Direction::Down);
        assert_eq!(velocity.get(), 1.0);
    }
}
