//! The nodes of an interpolation, all powers of alpha, and Lagrange's formula in exponents.

use thalweg_gf::{ORDER, exp, log};

/// Zech's logarithm: alpha^Z(d) = alpha^d + 1, for 0 < d < 255.
static ZECH: [u8; ORDER] = zech();

/// Prefix sums of [`ZECH`], modulo 255: the exponents of the products of alpha^d + 1 over 0 < d <= n.
static ZECH_SUM: [u8; ORDER] = zech_sums();

/// As many nodes as the block has source symbols: the source symbols, with repair symbols in place of those that are
/// `lost`.
pub(super) struct Nodes {
    source_symbols: usize,
    lost: Vec<usize>,
    repair: Vec<usize>,
    /// The ESI of every node, and the exponent of l(x) there.
    nodes: Vec<(usize, usize)>,
}

impl Nodes {
    /// The nodes of the source symbols.
    pub(super) fn source(source_symbols: usize) -> Nodes {
        Nodes::received(source_symbols, 0..source_symbols)
    }

    /// The nodes of the symbols with these ESIs: as many as there are source symbols, all different and in ascending
    /// order.
    pub(super) fn received(source_symbols: usize, esis: impl Iterator<Item = usize> + Clone) -> Nodes {
        let mut present = esis.clone().peekable();
        let lost = (0..source_symbols).filter(|&esi| present.next_if_eq(&esi).is_none()).collect();
        let repair = esis.clone().filter(|&esi| esi >= source_symbols).collect();
        let mut nodes = Nodes { source_symbols, lost, repair, nodes: Vec::new() };
        nodes.nodes = esis.map(|esi| (esi, nodes.product(esi))).collect();
        nodes
    }

    /// The factors of the nodes' symbols in the symbol of `esi`, which is not a node.
    pub(super) fn factors(&self, esi: usize) -> impl Iterator<Item = u8> {
        let product = self.product(esi);
        self.nodes.iter().map(move |&(node, slope)| exp(product + 3 * ORDER - slope - difference(esi, node)))
    }

    /// The exponent of l(alpha^n): the product of alpha^n - alpha^j over all nodes j other than n.
    fn product(&self, n: usize) -> usize {
        let differences =
            |from: &[usize]| -> usize { from.iter().filter(|&&j| j != n).map(|&j| difference(n, j)).sum() };
        let lost = differences(&self.lost) % ORDER;
        (product_over_source(self.source_symbols, n) + differences(&self.repair) + ORDER - lost) % ORDER
    }
}

/// The exponent of l(alpha^n) if the nodes are the `k` source symbols. Each difference is alpha to the smaller of the
/// two exponents, times alpha^d + 1, where d is the difference of the exponents. The first factors add up to a
/// polynomial in n and k, the second to prefix sums.
fn product_over_source(k: usize, n: usize) -> usize {
    let sum = |n: usize| usize::from(ZECH_SUM[n]);
    if n < k {
        n * n.saturating_sub(1) / 2 + n * (k - 1 - n) + sum(n) + sum(k - 1 - n)
    } else {
        k * (k - 1) / 2 + sum(n) + ORDER - sum(n - k)
    }
}

/// The exponent of alpha^a - alpha^b, for a and b that differ and are below 255.
fn difference(a: usize, b: usize) -> usize {
    a.min(b) + usize::from(ZECH[a.abs_diff(b)])
}

const fn zech() -> [u8; ORDER] {
    let mut table = [0; ORDER];
    let mut d = 1;
    while d < ORDER {
        table[d] = log(exp(d) ^ 1) as u8;
        d += 1;
    }
    table
}

const fn zech_sums() -> [u8; ORDER] {
    let (mut table, zech) = ([0; ORDER], zech());
    let mut n = 1;
    while n < ORDER {
        table[n] = ((table[n - 1] as usize + zech[n] as usize) % ORDER) as u8;
        n += 1;
    }
    table
}
