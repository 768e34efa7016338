//! Why some claims do not hold here: what was measured beside the evaluation itself, in runs with films of 120 s. "The windows"
//! and "Fig. 3" of the page have the numbers.

use crate::paper::remark::Remark;

/// All that are known, each claim under one of them at most.
pub const CAUSES: &[Remark] = &[
    Remark {
        claims: &["T-3d"],
        text: "Eq. (4) as printed closes dwnd only where more packets than 4 and the ceiling wait in the queue for each film: 58 \
               and more at a queue of 1000, where Diff stays between 30 and 39; 42 and more at 250, where it is 6 to 9. So only \
               losses close it. With 2 and 4 it closes at 1000: Diff is 17 to 25, dwnd less than .3; at 250 beside one FTP \
               connection Diff is 3.7, just under beta, and five packets of dwnd stay. A queue of 50 lasts 6 ms of 120: Diff is .6 \
               to .8, below alpha with either, and dwnd grows by one a round until the next loss.",
    },
    Remark {
        claims: &["T-3b", "T-3a2"],
        text: "Where dwnd does not close, films take more than they play: with the printed thresholds 5 to 6 Mb/s each beside 1 to 3 \
               FTP connections at a queue of 1000. FTP then gets .2 to 2 Mb/s more than beside NewReno nearly everywhere, and \
               seeds differ by as much; with 2 and 4 it gets 13 to 24 Mb/s more (N = 1 to 3, queues of 250 and more). With a queue \
               of 50 the link is not full: without FTP ten films get 43 Mb/s of the 70 that UDP leaves, under NewReno 51, and what \
               they give up stays free, since FTP is held down by the same queue.",
    },
    Remark {
        claims: &["T-3c"],
        text: "Loss differs between seeds by more than between carriers: without FTP, at a queue of 1000, NewReno's is .02 to .41 %, \
               TCP Stream's .016 to .033 %. Where Diff stays below alpha (see T-3d) dwnd grows by one a round until a packet is \
               lost, as NewReno's window does, and the loss is NewReno's within an eighth (queue of 50). A loss then takes dwnd and \
               half of lwnd, where NewReno keeps half of everything: at 250 beside 8 FTP connections films get 3.5 Mb/s, not 3.9, \
               and the link loses a tenth more. With 2 and 4 and a queue of 250, where dwnd does close, every N up to 8 has less.",
    },
];
