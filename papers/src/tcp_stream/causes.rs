//! The reasons that some claims do not hold here, by the whole evaluation (videos of 600 s, 20 seeds). "The windows"
//! and "Fig. 3" of the report have the numbers of its own runs.

use crate::remark::Remark;

/// All known causes, at most one for each claim.
pub const CAUSES: &[Remark] = &[
    Remark {
        claims: &["T-3d"],
        text: "Eq. (4) as printed closes dwnd only where more packets than 4 and the ceiling wait in the queue for each video: 58 \
               and more at a queue of 1000, where Diff stays between 33 and 41; 42 and more at 250, where it is 6 to 9. So only \
               losses close it. With 2 and 4 it closes at 1000: Diff is 19 to 27, dwnd less than .2; at 250 beside one FTP \
               connection Diff is 3.9, just under beta, and a tenth of the window stays. A queue of 50 lasts 6 ms of 120: Diff is \
               .6 to .8, below alpha with either, and dwnd grows by one a round until the next loss.",
    },
    Remark {
        claims: &["T-3b", "T-3a2"],
        text: "Where dwnd does not close, videos take more than they play: with the printed thresholds 5 to 6 Mb/s each beside 1 to 3 \
               FTP connections at a queue of 1000. FTP then gets .4 to 1.8 Mb/s more than beside NewReno (N = 1 to 8), and few \
               seeds, or short videos, differ by as much; with 2 and 4 it gets 13 to 25 Mb/s more (N = 1 to 3, queues of 250 and \
               more). With a queue of 50 the link is not full: without FTP ten videos get 43 Mb/s of the 70 that UDP leaves, under \
               NewReno 52, and what they give up stays free, since FTP is held down by the same queue.",
    },
    Remark {
        claims: &["T-3c"],
        text: "Where Diff stays below alpha (see T-3d) dwnd grows by one a round until a packet is lost, as NewReno's window does. \
               The loss then takes dwnd and half of lwnd, where NewReno keeps half of everything. So videos get less, and smaller \
               windows that grow by one a round lose more often: with the printed thresholds videos have .3 to 1.1 Mb/s less than \
               under NewReno, and 4 to 16 % more is lost at a queue of 250 (N = 1 to 8), 7 to 22 % more at 1000 (N = 2 to 8). At 50 \
               both lose alike, within 2 %, and seeds differ by as much. With 2 and 4, where dwnd does close, a tenth to four \
               fifths of NewReno's losses are left at 250 and 1000.",
    },
    Remark {
        claims: &["T-5a2"],
        text: "Where the queue of 50 or the printed thresholds keep dwnd open (see T-3d), the video beside CUBIC takes 6 to 30 Mb/s, \
               less than under CUBIC, and far more than it plays. With 2 and 4, and queues of 250 and more, it \
               has 5.2 Mb/s, still 44 % above; what of that is left from the 30 s alone was not measured.",
    },
];
