//! Implementations of multiplying and adding slices, and the choice among them.

#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use core::array;
use core::ops::Range;

/// The number of bytes that [`Kernel::mul_add_blocks`] works in multiples of; the step of every kernel divides it.
const BLOCK: usize = 64;

/// The numbers of inputs and of outputs that are padded at a time.
const PADDED_INPUTS: usize = 64;
const PADDED_OUTPUTS: usize = 8;

/// An implementation of multiplying and adding slices. All give the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// 64 bytes at a time, each multiplied by a bit matrix.
    #[cfg(target_arch = "x86_64")]
    GfniAvx512,
    /// 32 bytes at a time, each multiplied by a bit matrix.
    #[cfg(target_arch = "x86_64")]
    GfniAvx2,
    /// 32 bytes at a time, with one table lookup for each half of a byte.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 16 bytes at a time, with one table lookup for each half of a byte.
    #[cfg(target_arch = "x86_64")]
    Ssse3,
    /// 16 bytes at a time, with one table lookup for each half of a byte.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Byte by byte, with a table of products; runs on any machine.
    Scalar,
}

/// The factors of some inputs: a range of columns of a matrix in row-major order.
#[derive(Clone, Copy)]
struct Factors<'a> {
    matrix: &'a [u8],
    width: usize,
    first: usize,
    count: usize,
}

impl Kernel {
    /// All kernels of this architecture, the fastest first.
    pub const ALL: &[Kernel] = &[
        #[cfg(target_arch = "x86_64")]
        Kernel::GfniAvx512,
        #[cfg(target_arch = "x86_64")]
        Kernel::GfniAvx2,
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2,
        #[cfg(target_arch = "x86_64")]
        Kernel::Ssse3,
        #[cfg(target_arch = "aarch64")]
        Kernel::Neon,
        Kernel::Scalar,
    ];

    /// The fastest kernel that this machine can run.
    pub fn best() -> Kernel {
        Kernel::ALL.iter().copied().find(|kernel| kernel.is_available()).unwrap_or(Kernel::Scalar)
    }

    /// True if this machine has the instructions.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx512 => is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx2 => is_x86_feature_detected!("gfni") && is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Kernel::Ssse3 => is_x86_feature_detected!("ssse3"),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Kernel::Scalar => true,
        }
    }

    /// Performs [`mul_add`](crate::mul_add) with this kernel.
    ///
    /// # Panics
    /// As for [`mul_add`](crate::mul_add), and if the kernel is not available.
    pub fn mul_add(self, matrix: &[u8], inputs: &[&[u8]], outputs: &mut [&mut [u8]]) {
        assert!(self.is_available(), "this machine does not have {self:?}");
        assert_eq!(matrix.len(), inputs.len() * outputs.len(), "one factor for each output and input");
        let Some(len) = outputs.first().map(|output| output.len()) else { return };
        assert!(outputs.iter().all(|output| output.len() == len), "outputs of one length");
        assert!(inputs.iter().all(|input| input.len() <= len), "no input longer than the outputs");

        let factors = Factors { matrix, width: inputs.len(), first: 0, count: inputs.len() };
        let whole = inputs.iter().map(|input| input.len()).min().unwrap_or(0) / BLOCK * BLOCK;
        self.mul_add_blocks(factors, inputs, outputs, 0..whole);
        for at in (whole..len).step_by(BLOCK) {
            self.mul_add_ragged(factors, inputs, outputs, at..len.min(at + BLOCK));
        }
    }

    /// Handles positions `at`, at most one block, where some inputs may have ended: copies those into padded blocks.
    fn mul_add_ragged(self, factors: Factors<'_>, inputs: &[&[u8]], outputs: &mut [&mut [u8]], at: Range<usize>) {
        // The last block starts earlier and overlaps, so that inputs as long as the outputs need no copy.
        let start = at.end.saturating_sub(BLOCK).min(at.start);
        let fresh = at.start - start..at.end - start;
        for (chunk, inputs) in inputs.chunks(PADDED_INPUTS).enumerate() {
            let mut padded = [[0; BLOCK]; PADDED_INPUTS];
            for (padded, input) in padded.iter_mut().zip(inputs) {
                if let Some(tail) = input.get(start..)
                    && tail.len() < BLOCK
                {
                    padded[..tail.len()].copy_from_slice(tail);
                }
            }
            let windows: [&[u8]; PADDED_INPUTS] = array::from_fn(|i| {
                inputs.get(i).and_then(|input| input.get(start..start + BLOCK)).unwrap_or(&padded[i])
            });
            for (group, outputs) in outputs.chunks_mut(PADDED_OUTPUTS).enumerate() {
                let factors = factors.part(group * PADDED_OUTPUTS, chunk * PADDED_INPUTS, inputs.len());
                let mut sums = [[0; BLOCK]; PADDED_OUTPUTS];
                let sinks = &mut sums.each_mut().map(<[u8; BLOCK]>::as_mut_slice)[..outputs.len()];
                self.mul_add_blocks(factors, &windows[..inputs.len()], sinks, 0..BLOCK);
                for (output, sum) in outputs.iter_mut().zip(&sums) {
                    output[at.clone()].iter_mut().zip(&sum[fresh.clone()]).for_each(|(out, add)| *out ^= add);
                }
            }
        }
    }

    /// Handles positions `at`, whole blocks that every input and output has.
    fn mul_add_blocks(self, factors: Factors<'_>, inputs: &[&[u8]], outputs: &mut [&mut [u8]], at: Range<usize>) {
        match self {
            // SAFETY: `mul_add` has asserted that the machine has the features.
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx512 => unsafe { x86::gfni_avx512::mul_add(factors, inputs, outputs, at) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::GfniAvx2 => unsafe { x86::gfni_avx2::mul_add(factors, inputs, outputs, at) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { x86::avx2::mul_add(factors, inputs, outputs, at) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Kernel::Ssse3 => unsafe { x86::ssse3::mul_add(factors, inputs, outputs, at) },
            // SAFETY: as above.
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => unsafe { neon::mul_add(factors, inputs, outputs, at) },
            Kernel::Scalar => scalar::mul_add(factors, inputs, outputs, at),
        }
    }
}

impl<'a> Factors<'a> {
    /// The factors for output `output`.
    fn row(self, output: usize) -> &'a [u8] {
        &self.matrix[output * self.width + self.first..][..self.count]
    }

    /// The factors from output `output` on, for `count` inputs starting at input `first`.
    fn part(self, output: usize, first: usize, count: usize) -> Factors<'a> {
        Factors { matrix: &self.matrix[output * self.width..], width: self.width, first: self.first + first, count }
    }
}

#[cfg(test)]
mod tests;
