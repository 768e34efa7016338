//! Why some claims do not hold here: what was measured beside the evaluation itself. `docs/geneva.md` has the commands.

use crate::paper::cause::Cause;

/// All that are known, each claim under one of them at most.
pub const CAUSES: &[Cause] = &[
    Cause {
        claims: &["G-2a", "G-2b", "G-2c"],
        text: "Thirty transfers a second of 40 packets are 14.4 Mb/s: with the stream, 44 of 100 Mb/s. On a link that is \
               half empty TFRC loses next to nothing and keeps its rate. At five times the load, 150 transfers a second, it \
               falls as the paper draws it: 22, 17 and 25 Mb/s at 10, 50 and 200 ms.",
    },
    Cause {
        claims: &[
            "G-8b1", "G-8a1", "G-9b1", "G-9a1", "G-8b2", "G-9b2", "G-9a2", "G-T1a", "G-T1f", "G-T1h", "G-T2c", "G-T2d",
            "G-12",
        ],
        text: "Where the streams' packets come apart, four losses in a row are rare, and static repair loses next to nothing \
               for good: there is nothing to order. Where equal streams start together over equal delays, their packets meet \
               the full queue back to back, always in the same order, and one stream loses again and again until its spacing \
               changes: hundreds of such events, as the paper has them, few of them in the flows of 60 and 90 Mb/s, and fewer \
               with GENEVA, whose spacing changes with its window. The paper's order of bursts and of residual loss is that \
               of streams in phase; which of two numbers near zero is smaller, is chance.",
    },
    Cause {
        claims: &["G-T1b", "G-T1d", "G-T1e", "G-T2a", "G-8a2"],
        text: "More repair mends more. GENEVA loses less for good than static 8 wherever the interval tells them apart, but \
               not less than static 12 or DP-FEC's stand-in. For more repair to lose more, as in the paper, it must bring \
               about more loss than it mends; here 4 packets more a block leave the link's loss where it was (Table 2: 3.15 \
               and 3.23 %), and mend half as many again.",
    },
    Cause {
        claims: &["G-8d1", "G-8d2", "G-8c1", "G-8c2", "G-9c2", "G-10", "G-A2", "G-A1", "G-T2b", "G-T1g", "G-T1c"],
        text: "Windows that open under loss which they cause themselves: ten streams at Fwnd 60 send 1.02 Gb/s into 1 Gb/s, \
               and the law has no way back (see \"The state of the window\"). The fraction that the real state keeps brings \
               them there from 200 TCP flows on; streams in phase, which lose more, are driven towards it at 250.",
    },
];
