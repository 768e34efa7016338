//! The reasons that some claims do not hold here, by the evaluation with runs of 180 s and 10 seeds, and by runs of `lab
//! compare` beside it: the scenarios `r3cp-s1` (Figs. 3 to 6), `r3cp-s3` (Fig. 7) and `r3cp-s5` (Fig. 9) with 3 to 10 seeds.

use crate::remark::Remark;

/// All known causes, at most one for each claim.
pub const CAUSES: &[Remark] = &[
    Remark {
        claims: &["R-3b", "R-7a", "R-7c", "R-9b"],
        text: "The minimum of the buffer. These fail without a store alone. With the target of Eq. (9), half a second and a \
               round trip, frames are skipped as if the path could not carry them: on an idle link, without a loss, 41 % of \
               the frames are skipped and 42 % play. The requested rate is 247 kb/s, with a variation of .43. A store of \
               .25 s is enough: all frames play, at 376 kb/s and .16 (r3cp-s1, store_s = 0 and 0.25).",
    },
    Remark {
        claims: &["R-3a"],
        text: "Without a store for the same reason. With one, TCP: beside eight flows the link loses 5.6 %. Above p_high \
               R3CP+ takes 283 kb/s, skips 26 % and plays .66; R3CP has no congestion control, requests 407 kb/s and plays \
               .999. TCP gets the difference, 64 kb/s. With .05/.10 R3CP+ skips 1 %, and .02 % with .15/.30. Four videos on \
               the link, which R3CP overloads, show the paper's order with any store.",
    },
    Remark {
        claims: &["R-4a", "R-4b"],
        text: "A load of .96 counts media alone. With their headers the three videos have .398 Mb/s each, and fill, with \
               the source of 306 kb/s, the link: each retransmission overloads it. Where the source has 150 kb/s, a load of \
               .86, all parts hold with a store of 2 s: p_n is .005 under R3CP+ and .009 under TFCC, the variation .28 and \
               .50, and 94 % of what is requested arrives. At .96 p_n grows with the store, from .0002 without one to .014 \
               (.25 s), .026 (1 s) and .046 (4 s), since each video tries to fill it. TFCC keeps to its throughput there \
               and loses 2 %, but receives 367 of the 378 kb/s that play: 33 % of its frames are late, and it plays .63, \
               R3CP+ .92. Of the packets that R3CP+ receives another 13 % are retransmissions, which p_n and the received \
               rate do not count; with them 89 % of the requested rate arrives. Without a store the variation is that of \
               skipping, .41 at any load.",
    },
    Remark {
        claims: &["R-5"],
        text: "Three causes. With three videos, and beside one or two TCP flows, next to nothing breaks under any control \
               (at most .4 % of the frames, often none), and a difference of zero is not above zero. With four videos R3CP \
               requests 610 kb/s each, the link loses 41 %, and more frames break than under no control (14 and 10 %). \
               Beside eight TCP flows TFCC gets 241 kb/s, its buffer is empty, and 83 % of its frames are late. What is \
               late is not requested again, and 11 % break, under no control 6 %.",
    },
    Remark {
        claims: &["R-6"],
        text: "An orphan is complete in time. With three videos no control loses nothing and has no orphan, and the others \
               have .1 to .8 %: \"fewer\" is impossible. With four, 87 % of its frames are late, so only .6 % are orphans, \
               and it plays .03; R3CP+ plays .77 with a store, and has 6 % of orphans. Without a store R3CP+ skips \
               references (see R-3b), and 13 to 16 % are orphans. Beside TCP, where no control loses packets in time, the \
               claim holds with any store.",
    },
    Remark {
        claims: &["R-7b"],
        text: "The media in the buffer. The source leaves 45 kb/s, and the I frames alone need 120: what plays was stored \
               before. At 8 s TFCC has 7.2 s of media, R3CP+ .6 s or, with the store, 2.6 s. TFCC plays what it has stored, \
               and then next to nothing from 20 to 40 s, as published. Of a whole minute R3CP+ plays .26 without a store, \
               .49 with 2 s and .67 with 8 s, TFCC .43 (r3cp-s3, store_s, duration_s = 60).",
    },
    Remark {
        claims: &["R-9c"],
        text: "Two causes. A video ends: beside one TCP flow TFCC receives 800 kb/s, has the video of 600 s after 310 s, \
               and then receives nothing, so that over the run both receive the video once, and differ by retransmissions. \
               From five flows on p_n at times passes p_high of .04: TFCC halves the throughput, R3CP+ reduces rho by an \
               eighth unless congestion is forecast, and returns to lambda. Beside ten flows R3CP+ receives 245 kb/s and \
               plays .52, TFCC 205 kb/s and .05. With .15/.30 neither is congested, and the difference is 2 to 3 kb/s. The \
               order is the paper's without a store, where R3CP+ skips (see R-3b).",
    },
    Remark {
        claims: &["R-T3a"],
        text: "The thresholds. A path that loses 12.7 % at random is CONGESTED under .02/.04 and .05/.10: R3CP+ stays near \
               its minimum rate, and plays .2 and .3 of the frames. With .15/.30 it plays .92, with the gate .97, in the \
               paper .91. Without a store it also skips (see R-3b), on all three paths.",
    },
];
