//! A pipeline of GStreamer, from a file.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use gstreamer::glib::{ParamFlags, ParamSpec, ParamSpecInt, ParamSpecUInt};
use gstreamer::prelude::*;
use gstreamer::{self as gst, MessageView, ParseContext, ParseFlags, State, StateChangeError, StateChangeSuccess};
use gstreamer_app::{AppSink, AppSinkCallbacks};
use thalweg_core::units::Rate;
use thalweg_net::error::{Error, plain};

use crate::output::Output;
use crate::remedy;

/// The time in which a pipeline has to stop; a driver that hangs does not keep the process longer.
const GRACE: Duration = Duration::from_secs(1);
/// The property of an encoder that is set.
const PROPERTY: &str = "bitrate";
/// Names of the encoder, and the bits per second of a unit of its property.
const ENCODERS: [(&str, u64); 2] = [("venc_bps", 1), ("venc_kbps", 1_000)];

/// A pipeline that runs, or will.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// The file, as users named it.
    name: String,
    pipeline: gst::Pipeline,
    encoder: Encoder,
    /// The outcome of its start, which a device may delay.
    started: Option<Receiver<Result<StateChangeSuccess, StateChangeError>>>,
}

/// The encoder of the video.
#[derive(Debug)]
struct Encoder {
    element: gst::Element,
    /// The range of the property.
    range: RangeInclusive<i64>,
    /// Bits per second of a unit of the property.
    unit: u64,
}

/// A message of a pipeline.
#[derive(Debug)]
pub(crate) enum Notice {
    /// The source has ended.
    Ended,
    /// An element warns of something.
    Warning(String),
}

impl Pipeline {
    /// Reads a file; `output` gets the buffers of its sink.
    pub(crate) fn open(file: &Path, output: Arc<Output>) -> Result<Pipeline, Error> {
        let name = file.display().to_string();
        let failed = |reason: String| Error::new(&name, reason);
        let text = fs::read_to_string(file).map_err(|error| failed(plain(&error)))?;
        gst::init()
            .map_err(|error| failed(format!("GStreamer does not start: {}", remedy::one_line(error.message()))))?;
        let pipeline = parse(&text).map_err(failed)?;
        let encoder = Encoder::find(&pipeline).map_err(failed)?;
        let sink = pipeline.by_name("appsink").and_then(|sink| sink.downcast::<AppSink>().ok());
        let sink =
            sink.ok_or_else(|| failed("ends nowhere; let it end in: mpegtsmux ! appsink name=appsink".to_owned()))?;
        sink.set_callbacks(AppSinkCallbacks::builder().new_sample(move |sink| output.take(sink)).build());
        Ok(Pipeline { name, pipeline, encoder, started: None })
    }

    /// Starts it, in a thread of its own.
    pub(crate) fn start(&mut self) {
        self.started = Some(self.change(State::Playing));
    }

    /// Sets the bit rate of the encoder; the one that it then has, which may be another one.
    pub(crate) fn set(&self, rate: Rate) -> Result<Rate, Error> {
        self.encoder.set(rate).map_err(|reason| Error::new(&self.name, reason))
    }

    /// The name of the encoder and its kind, as `venc_kbps (x264enc)`.
    pub(crate) fn encoder(&self) -> String {
        self.encoder.to_string()
    }

    /// The next message.
    ///
    /// # Errors
    /// The pipeline has failed.
    pub(crate) fn poll(&mut self) -> Result<Option<Notice>, Error> {
        let failed = |reason: String| Err(Error::new(&self.name, reason));
        while let Some(message) = self.pipeline.bus().and_then(|bus| bus.pop()) {
            let source = message.src().map(|source| source.name().to_string()).unwrap_or_default();
            match message.view() {
                MessageView::Error(error) => {
                    return failed(remedy::of_failure(&source, &error.error(), error.debug().as_deref()));
                }
                MessageView::Warning(warning) => {
                    let text = remedy::of_warning(&source, &warning.error(), warning.debug().as_deref());
                    return Ok(Some(Notice::Warning(text)));
                }
                MessageView::Eos(_) => return Ok(Some(Notice::Ended)),
                MessageView::Latency(_) => drop(self.pipeline.recalculate_latency()),
                _ => {}
            }
        }
        // The message of the element that failed, if there is one, was earlier.
        match self.started.as_ref().and_then(|started| started.try_recv().ok()) {
            Some(Err(_)) => failed("does not start".to_owned()),
            _ => Ok(None),
        }
    }

    /// Stops it; a device that hangs is left behind after a second.
    pub(crate) fn stop(self) {
        let _ = self.change(State::Null).recv_timeout(GRACE);
    }

    /// Changes its state in a thread of its own.
    fn change(&self, state: State) -> Receiver<Result<StateChangeSuccess, StateChangeError>> {
        let (sender, outcome) = channel();
        let pipeline = self.pipeline.clone();
        thread::spawn(move || sender.send(pipeline.set_state(state)));
        outcome
    }
}

/// The pipeline of a text.
fn parse(text: &str) -> Result<gst::Pipeline, String> {
    // GStreamer's strings end there.
    if text.contains('\0') {
        return Err("has a byte of zero; a pipeline is text".to_owned());
    }
    let mut context = ParseContext::new();
    let parsed = gst::parse::launch_full(text, Some(&mut context), ParseFlags::FATAL_ERRORS);
    let element = parsed.map_err(|error| remedy::of_parsing(&error, &context))?;
    element.downcast().map_err(|_| "a single element is no pipeline; let it end in: ! appsink name=appsink".to_owned())
}

impl Encoder {
    /// The element of a pipeline that has one of the two names.
    fn find(pipeline: &gst::Pipeline) -> Result<Encoder, String> {
        let mut found = ENCODERS.into_iter().filter_map(|(name, unit)| Some((pipeline.by_name(name)?, unit)));
        let (element, unit) = match (found.next(), found.next()) {
            (Some(one), None) => one,
            (None, _) => {
                let why = "no encoder has the name venc_bps or venc_kbps; name the one of the video, as in x264enc name=venc_kbps";
                return Err(why.to_owned());
            }
            (Some(_), Some(_)) => {
                return Err("both venc_bps and venc_kbps are there; name one encoder alone".to_owned());
            }
        };
        let settable = ParamFlags::READABLE | ParamFlags::WRITABLE;
        let property = element.find_property(PROPERTY).filter(|property| property.flags().contains(settable));
        match property.as_ref().and_then(range) {
            Some(range) => Ok(Encoder { element, range, unit }),
            None => {
                let element = describe(&element);
                Err(format!("{element} has no number {PROPERTY} that can be set; name an encoder that has one"))
            }
        }
    }

    /// Sets the bit rate, as near as the range of the property allows; the one that the encoder then has.
    fn set(&self, rate: Rate) -> Result<Rate, String> {
        let units = i64::try_from(rate.as_bps() / self.unit).unwrap_or(i64::MAX);
        let units = units.clamp(*self.range.start(), *self.range.end());
        let refused = || format!("{self} refuses {PROPERTY}={units}");
        let kind = self.element.property_type(PROPERTY).ok_or_else(refused)?;
        let value = units.to_value().transform_with_type(kind).map_err(|_| refused())?;
        self.element.set_property_from_value(PROPERTY, &value);
        let set = self.element.property_value(PROPERTY).transform::<u64>().ok();
        let units = set.and_then(|set| set.get::<u64>().ok()).ok_or_else(refused)?;
        Ok(Rate::from_bps(units.saturating_mul(self.unit)))
    }
}

impl std::fmt::Display for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&describe(&self.element))
    }
}

/// The name of an element and its kind.
fn describe(element: &gst::Element) -> String {
    let kind = element.factory().map(|factory| factory.name().to_string()).unwrap_or_default();
    format!("{} ({kind})", element.name())
}

/// The range of a property that is a number.
fn range(property: &ParamSpec) -> Option<RangeInclusive<i64>> {
    if let Some(property) = property.downcast_ref::<ParamSpecUInt>() {
        return Some(property.minimum().into()..=property.maximum().into());
    }
    let property = property.downcast_ref::<ParamSpecInt>()?;
    Some(property.minimum().into()..=property.maximum().into())
}
