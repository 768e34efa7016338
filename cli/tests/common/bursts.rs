//! Paths of 20 ms each way that lose in bursts.

/// Gilbert and Elliott's model of the forward direction: `p` is the probability of entering the bad state, `r` of
/// leaving it, and a packet in it is lost with probability `loss_bad`, so that p / (p + r) x `loss_bad` of all packets
/// are lost.
pub(crate) struct Bursts {
    pub(crate) seed: u64,
    pub(crate) p: f64,
    pub(crate) r: f64,
    pub(crate) loss_bad: f64,
}

impl Bursts {
    /// A scenario for `emulate` and `demo`.
    pub(crate) fn scenario(&self) -> String {
        let Bursts { seed, p, r, loss_bad } = self;
        format!(
            r#"
seed = {seed}
forward.element = [
    {{ kind = "gilbert_elliott", p = {p}, r = {r}, loss_bad = {loss_bad:.1} }},
    {{ kind = "wire", delay = "20ms" }},
]
reverse.element = [{{ kind = "wire", delay = "20ms" }}]
"#
        )
    }
}
