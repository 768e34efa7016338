use super::*;

fn coded(first: u64, last: u64) -> Coded {
    Coded { first, last, p_useless: 0.0 }
}

/// Five originals, all sent once.
fn five() -> Queue {
    let mut queue = Queue::new(1);
    for l in 1..=5 {
        assert_eq!(queue.push(Time::ZERO), l);
        queue.sent(&coded(l, l));
    }
    queue
}

#[test]
fn indices_follow_the_papers_definitions() {
    let mut queue = Queue::new(1);
    assert_eq!((queue.b(), queue.d(), queue.e(), queue.n(), queue.m()), (1, 1, 0, 0, 0));
    (0..6).for_each(|_| {
        queue.push(Time::ZERO);
    });
    (1..=4).for_each(|l| queue.sent(&coded(l, l)));
    // §II-E: "six packets in the burst, out of which four have been sent".
    assert_eq!((queue.b(), queue.d(), queue.e(), queue.n(), queue.m()), (1, 5, 6, 4, 2));
}

#[test]
fn gap_blocks_the_release_of_later_originals() {
    let mut queue = five();
    for l in [1, 2, 4, 5] {
        assert!(queue.arrived(&coded(l, l)));
        queue.release(queue.decodable());
    }
    queue.lost(&coded(3, 3));
    assert_eq!((queue.b(), queue.n(), queue.first_missing()), (3, 3, Some(3)));
    queue.sent(&coded(3, 3));
    assert_eq!(queue.first_missing(), None);
    assert!(queue.arrived(&coded(3, 3)));
    queue.release(queue.decodable());
    assert!(queue.is_empty());
    assert_eq!((queue.b(), queue.d(), queue.e()), (6, 6, 5));
}

/// A combination that ends behind a gap closes it together with the originals that arrived, and not before.
#[test]
fn one_combination_fills_one_gap() {
    let mut queue = five();
    queue.sent(&coded(1, 4));
    [1, 2, 4].iter().for_each(|l| {
        queue.lost(&coded(*l, *l));
    });
    assert!(queue.arrived(&coded(3, 3)));
    assert!(queue.arrived(&coded(5, 5)));
    assert!(queue.arrived(&coded(1, 4)));
    assert_eq!(queue.decodable(), 1, "three are missing, one equation came");
    queue.sent(&coded(1, 1));
    queue.sent(&coded(1, 2));
    assert!(queue.arrived(&coded(1, 2)));
    assert_eq!(queue.decodable(), 1);
    assert!(queue.arrived(&coded(1, 1)));
    assert_eq!(queue.decodable(), 6);
}

/// A combination that began before B acts from B on; one that ends before B is useless.
#[test]
fn combination_counts_unless_it_ends_before_b() {
    let mut queue = five();
    queue.sent(&coded(1, 2));
    queue.sent(&coded(1, 4));
    for l in [1, 2] {
        queue.arrived(&coded(l, l));
    }
    queue.release(queue.decodable());
    assert_eq!((queue.b(), queue.coded_in_flight()), (3, 1));
    assert!(!queue.arrived(&coded(1, 2)), "it ends behind B");
    assert!(queue.arrived(&coded(1, 4)));
    assert_eq!((queue.coded_in_flight(), queue.coded_arrived()), (0, 1));
    assert!(queue.arrived(&coded(4, 4)));
    assert_eq!(queue.decodable(), 5, "3 follows from 4 and the combination");
    assert_eq!((queue.overhead().useless, queue.overhead().received), (1, 5));
}

#[test]
fn the_second_copy_is_useless() {
    let mut queue = five();
    queue.sent(&coded(2, 2));
    assert!(queue.arrived(&coded(2, 2)));
    assert!(!queue.arrived(&coded(2, 2)));
    assert_eq!(queue.overhead().useless, 1);
}

/// The receiver's report counts, however likely the opposite was.
#[test]
fn linearly_dependent_combination_fills_no_gap() {
    let mut queue = five();
    queue.sent(&coded(1, 5));
    [2, 3, 4, 5].iter().for_each(|l| {
        queue.arrived(&coded(*l, *l));
    });
    queue.lost(&coded(1, 1));
    queue.arrived_as(&coded(1, 5), false);
    assert_eq!(queue.decodable(), 1);
    assert_eq!(queue.overhead().useless, 1);
}
