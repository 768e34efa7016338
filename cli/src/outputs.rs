//! Outputs of media, which `recv` and `play` share.

use thalweg_core::rng::Rng;
use thalweg_net::error::Error;
use thalweg_net::media_url::MediaUrl;
use thalweg_net::output::{Existing, Output};

use crate::failure::Failure;

/// The greatest number of outputs: more than users need, and few enough to wait for all at once.
const MAX_OUTPUTS: usize = 32;

/// Options of the outputs.
#[derive(clap::Args)]
pub(crate) struct OutputArgs {
    /// Output of the media: udp://HOST:PORT, ts+udp://, rtp://, file:PATH or -; may be repeated. After the port of a
    /// multicast group, ?iface=NAME&ttl=N, or one of the two, is allowed. A file is created when media arrives; each
    /// further stream gets its own file, as in out.ts, out-2.ts
    #[arg(long = "output", value_name = "URL", value_parser = MediaUrl::output)]
    pub(crate) outputs: Vec<MediaUrl>,
    /// Replace the file of a file: output once media arrives; without this or --append, an existing file is an error
    #[arg(long, conflicts_with = "append")]
    overwrite: bool,
    /// Append all streams to the file of a file: output, instead of writing them to FILE, FILE-2, FILE-3
    #[arg(long)]
    append: bool,
}

impl OutputArgs {
    fn existing(&self) -> Existing {
        match (self.overwrite, self.append) {
            (true, _) => Existing::Overwrite,
            (_, true) => Existing::Append,
            _ => Existing::Keep,
        }
    }

    /// Refuses too many outputs, one that is given twice, and one whose file exists and is to be kept.
    pub(crate) fn check(&self, verb: &str) -> Result<(), Failure> {
        let refusal = |text: String| Err(Failure::Usage(format!("{verb}: {text}")));
        let OutputArgs { outputs, .. } = self;
        if outputs.len() > MAX_OUTPUTS {
            return refusal(format!("{} outputs; at most {MAX_OUTPUTS} are allowed", outputs.len()));
        }
        let keeps = self.existing() == Existing::Keep;
        if !keeps && !outputs.iter().any(|output| matches!(output, MediaUrl::File { .. })) {
            return refusal("--overwrite and --append need a file: output".to_owned());
        }
        for (nth, output) in outputs.iter().enumerate() {
            if let MediaUrl::File { path, .. } = output
                && keeps
                && path.is_file()
            {
                return refusal(format!(
                    "--output {output}: file exists; replace it with --overwrite, or continue it with --append"
                ));
            }
            if outputs[..nth].contains(output) {
                return refusal(format!("--output {output} is given twice"));
            }
        }
        Ok(())
    }

    /// Opens the outputs.
    pub(crate) fn open(&self, rng: &Rng) -> Result<Vec<Output>, Error> {
        self.outputs.iter().map(|media_url| Output::open(media_url, self.existing(), rng)).collect()
    }
}
