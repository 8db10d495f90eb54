//! The scenario of one point: a host and its traffic. `warmcore simulate packet` predicts its delays,
//! `warmcore run` runs it on this machine, and `warmcore compare` does both.

use crate::document::Checked;
use crate::effects::Effects;
use crate::extensions::{Extensions, QueueTable, Service};
use crate::limits::{MAX_PROCESSORS, RATES, RATES_IN_WORDS};
use crate::live::Live;
use crate::profile_source::ProfileSource;
use crate::scheduling::{Parallelism, Scheduling};
use crate::traffic::{Process, Traffic};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;
use warmcore_policy::dispatch::QueueRules;
use warmcore_units::{Fault, PerSecond};
use warmcore_workload::Popularity;

/// Packets per stream after which caches and queues have probably settled.
pub const SETTLING_PACKETS: u64 = 4;

/// The document of one point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PacketScenario {
    /// Version of the document, [`Checked::SCHEMA`].
    pub schema: u32,
    /// Seed of every random choice.
    pub seed: u64,
    /// The profile with the costs of processing: `"sgi-challenge-xl"` or the path of a profile.
    pub profile: ProfileSource,
    /// The number of processors, and of protocol threads.
    pub processors: u32,
    /// How fast each processor is: one of speed 0.5 takes twice as long for the same work. Left out of a document if all
    /// have speed 1.
    #[serde(skip_serializing_if = "is_default")]
    pub speeds: Vec<f64>,
    /// The number of independent stacks under IPS.
    pub stacks: Stacks,
    /// How many streams belong to each class, the most urgent one first; the streams left over are one more class, the least
    /// urgent. A processor takes the packet that has waited longest of the most urgent class in its queue. Left out of a
    /// document if there is one class.
    #[serde(skip_serializing_if = "is_default")]
    pub priorities: Vec<u32>,
    /// Packets per second. Without it, a trace keeps its own rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<PerSecond>,
    /// Where packets are processed.
    pub scheduling: Scheduling,
    /// What arrives.
    pub traffic: Traffic,
    /// Costs that the model of Salehi 1994 leaves out.
    pub effects: Effects,
    /// How service times vary around the costs. Left out of a document if they do not.
    #[serde(skip_serializing_if = "is_default")]
    pub service: Service,
    /// How many packets may wait. Left out of a document if all may.
    #[serde(skip_serializing_if = "is_default")]
    pub queues: QueueTable,
    /// How long to simulate.
    pub run: RunLength,
    /// How to run it on this machine. Left out of a document if all settings are defaults.
    #[serde(skip_serializing_if = "is_default")]
    pub live: Live,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// How many independent stacks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "StacksField", into = "StacksField")]
pub enum Stacks {
    /// One for each processor, `"per-processor"`.
    #[default]
    PerProcessor,
    /// One for each stream, on whichever processor runs it, `"per-stream"`.
    PerStream,
    /// This number.
    Count(u32),
}

/// [`Stacks`] as written in a document: a number, or the name of a rule.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StacksField {
    Count(u32),
    Rule(String),
}

/// How long a point is simulated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunLength {
    /// The target half-width of the mean delay, as a fraction of the mean.
    pub precision: f64,
    /// The most packets of a replication.
    pub max_packets: u64,
    /// The number of independent replications, which run in parallel.
    pub replications: u32,
    /// Exactly this many packets in each replication, whatever the precision; `None` to stop at the precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Packets left out at the start of each replication, rounded up to whole batches (at most a 256th of the
    /// run); `None` to find where the steady state begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_packets: Option<u64>,
}

impl Default for PacketScenario {
    fn default() -> Self {
        Self {
            schema: Self::SCHEMA,
            seed: 1,
            profile: ProfileSource::SgiChallengeXl,
            processors: 8,
            speeds: Vec::new(),
            stacks: Stacks::PerProcessor,
            priorities: Vec::new(),
            rate_per_s: None,
            scheduling: Scheduling::default(),
            traffic: Traffic::default(),
            effects: Effects::NONE,
            service: Service::default(),
            queues: QueueTable::default(),
            run: RunLength::default(),
            live: Live::default(),
        }
    }
}

impl Default for RunLength {
    fn default() -> Self {
        Self {
            precision: 0.005,
            max_packets: 20_000_000,
            replications: 1,
            packets: None,
            warmup_packets: None,
        }
    }
}

impl Stacks {
    /// The number of stacks on a host with this many processors and streams.
    #[must_use]
    pub fn count(self, processors: u32, streams: u32) -> u32 {
        match self {
            // A stack without a stream would never be used.
            Self::PerProcessor => processors.min(streams),
            Self::PerStream => streams,
            Self::Count(count) => count,
        }
    }
}

impl FromStr for Stacks {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "per-processor" => Ok(Self::PerProcessor),
            "per-stream" => Ok(Self::PerStream),
            count => count
                .parse()
                .map(Self::Count)
                .map_err(|_| format!("`{count}` stacks: give a number, \"per-processor\" or \"per-stream\"")),
        }
    }
}

impl TryFrom<StacksField> for Stacks {
    type Error = String;

    fn try_from(field: StacksField) -> Result<Self, String> {
        match field {
            StacksField::Count(count) => Ok(Self::Count(count)),
            StacksField::Rule(rule) => rule.parse(),
        }
    }
}

impl From<Stacks> for StacksField {
    fn from(stacks: Stacks) -> Self {
        match stacks {
            Stacks::PerProcessor => Self::Rule("per-processor".to_owned()),
            Stacks::PerStream => Self::Rule("per-stream".to_owned()),
            Stacks::Count(count) => Self::Count(count),
        }
    }
}

impl Checked for PacketScenario {
    const WHAT: &'static str = "scenario";
    const SCHEMA: u32 = 1;

    fn check(&self) -> Result<(), Fault> {
        Fault::check_schema(self.schema, Self::SCHEMA)?;
        if self.profile == ProfileSource::Measure {
            let expected = "sgi-challenge-xl or a profile's path: `warmcore calibrate` measures one";
            return Err(Fault::new("profile", "measure", expected));
        }
        if !(1..=MAX_PROCESSORS).contains(&self.processors) {
            return Err(Fault::new("processors", self.processors, format!("between 1 and {MAX_PROCESSORS}")));
        }
        if let Some(rate) = self.rate_per_s
            && !RATES.contains(&rate.0)
        {
            return Err(Fault::new("rate_per_s", rate.0, RATES_IN_WORDS));
        }
        self.scheduling.check()?;
        self.traffic.check().map_err(|fault| Fault { field: format!("traffic.{}", fault.field), ..fault })?;
        self.effects.check()?;
        self.extensions().check(self.processors, &self.scheduling)?;
        self.check_closed()?;
        self.run.check()?;
        self.live.check().map_err(|fault| Fault { field: format!("live.{}", fault.field), ..fault })
    }
}

impl PacketScenario {
    /// What goes beyond Salehi 1994 apart from costs.
    #[must_use]
    pub fn extensions(&self) -> Extensions<'_> {
        let closed = match &self.traffic.process {
            Process::Closed(closed) => Some(closed),
            _ => None,
        };
        Extensions {
            service: &self.service.distribution,
            speeds: &self.speeds,
            queues: QueueRules { limit: self.queues.limit(), classes: &self.priorities },
            closed,
        }
    }

    /// Checks that this can run on a machine: what goes beyond Salehi 1994 exists in the simulator only.
    ///
    /// # Errors
    /// The first field that only the simulator knows.
    pub fn check_runnable(&self) -> Result<(), Fault> {
        let expected = "nothing here: only `simulate packet` and `sweep packet` know it";
        let given = [
            ("speeds", !self.speeds.is_empty(), "given"),
            ("priorities", !self.priorities.is_empty(), "given"),
            ("service.distribution", self.service != Service::default(), self.service.distribution.name()),
            ("queues.limit", self.queues.limit.is_some(), "given"),
            ("traffic.process", matches!(self.traffic.process, Process::Closed(_)), "closed"),
        ];
        let refused = given.into_iter().find(|(_, given, _)| *given);
        refused.map_or(Ok(()), |(field, _, found)| Err(Fault::new(field, found, expected)))
    }

    /// Checks what goes together with a closed loop.
    fn check_closed(&self) -> Result<(), Fault> {
        let Process::Closed(_) = self.traffic.process else { return Ok(()) };
        let Traffic { popularity, sizes, send_fraction, .. } = &self.traffic;
        let none = [
            ("rate_per_s", self.rate_per_s.is_some(), "the rate follows from how fast requests are finished"),
            ("traffic.popularity", *popularity != Popularity::Uniform, "every stream has the same window"),
            ("traffic.sizes", !sizes.is_empty(), "its requests have no sizes"),
            ("traffic.send_fraction", *send_fraction > 0.0, "its requests are received"),
        ];
        let Some((field, _, why)) = none.into_iter().find(|(_, given, _)| *given) else { return Ok(()) };
        Err(Fault::new(field, "given", format!("none with `closed` traffic: {why}")))
    }

    /// The same scenario, read from a document in `folder`: the files that it names are relative to that, which is put
    /// before their paths.
    #[must_use]
    pub fn with_files_below(mut self, folder: &Path) -> Self {
        if let ProfileSource::File(file) = &mut self.profile {
            *file = folder.join(&*file);
        }
        if let Process::Trace(trace) = &mut self.traffic.process {
            trace.file = folder.join(&trace.file);
        }
        self
    }

    /// Checks that runs are long enough for the number of streams. A trace is always simulated completely.
    ///
    /// # Errors
    /// If there are too many streams.
    pub fn check_length(&self) -> Result<(), Fault> {
        let packets = self.run.most_packets();
        let (streams, most) = (self.traffic.streams, packets / SETTLING_PACKETS);
        if matches!(self.traffic.process, Process::Trace(_)) || u64::from(streams) <= most {
            return Ok(());
        }
        let expected = format!(
            "at most {most} with runs of {packets} packets: caches settle only after each stream has had \
             {SETTLING_PACKETS} packets; raise {} for more streams",
            if self.run.packets.is_some() { "`run.packets`" } else { "`run.max_packets`" }
        );
        Err(Fault::new("traffic.streams", streams, expected))
    }

    /// Checks the number of stacks once the number of streams is known; a trace's is known only after
    /// reading it.
    ///
    /// # Errors
    /// If there are no stacks, or more than streams.
    pub fn check_stacks(&self, streams: u32) -> Result<u32, Fault> {
        let stacks = self.stacks.count(self.processors, streams);
        if self.scheduling.approach == Parallelism::Ips && !(1..=streams).contains(&stacks) {
            let expected = format!("between 1 and {streams}, the number of streams: each stack needs one");
            return Err(Fault::new("stacks", stacks, expected));
        }
        Ok(stacks)
    }
}

impl RunLength {
    /// The fewest packets after which a replication may end.
    pub const LEAST_PACKETS: u64 = 10_000;
    /// The fewest packets of a replication of fixed length.
    pub const LEAST_FIXED_PACKETS: u64 = 1_000;
    /// The most replications.
    pub const MAX_REPLICATIONS: u32 = 10_000;

    /// The most packets that a replication can have.
    #[must_use]
    pub fn most_packets(&self) -> u64 {
        self.packets.unwrap_or(self.max_packets)
    }

    fn check(&self) -> Result<(), Fault> {
        if !(self.precision > 0.0 && self.precision < 1.0) {
            return Err(Fault::new(
                "run.precision",
                self.precision,
                "a fraction between 0 and 1, such as 0.01",
            ));
        }
        if self.max_packets < Self::LEAST_PACKETS {
            let expected = format!("at least {}", Self::LEAST_PACKETS);
            return Err(Fault::new("run.max_packets", self.max_packets, expected));
        }
        if let Some(packets) = self.packets
            && packets < Self::LEAST_FIXED_PACKETS
        {
            let expected = format!("at least {}", Self::LEAST_FIXED_PACKETS);
            return Err(Fault::new("run.packets", packets, expected));
        }
        let most = self.most_packets() / 2;
        if let Some(warmup) = self.warmup_packets
            && warmup > most
        {
            let expected =
                format!("at most {most}, half of the packets of a run: the other half is measured");
            return Err(Fault::new("run.warmup_packets", warmup, expected));
        }
        if !(1..=Self::MAX_REPLICATIONS).contains(&self.replications) {
            let expected = format!("between 1 and {}", Self::MAX_REPLICATIONS);
            return Err(Fault::new("run.replications", self.replications, expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::parse;

    #[test]
    fn an_empty_document_is_the_default_and_a_full_one_survives_a_round_trip() {
        let path = Path::new("point.toml");
        assert_eq!(parse::<PacketScenario>("", path).unwrap(), PacketScenario::default());
        let scenario = PacketScenario {
            stacks: Stacks::PerStream,
            rate_per_s: Some(PerSecond(20_000.0)),
            ..PacketScenario::default()
        };
        let text = toml::to_string(&scenario).unwrap();
        assert_eq!(parse::<PacketScenario>(&text, path).unwrap(), scenario);
    }

    #[test]
    fn a_run_of_ones_own_length_is_in_the_document_only_if_it_is_given() {
        let mut scenario = PacketScenario::default();
        let names = ["packets =", "warmup_packets"];
        let text = toml::to_string(&scenario).unwrap().replace("max_packets =", "");
        assert!(!names.iter().any(|name| text.contains(name)), "{text}");
        scenario.run = RunLength { packets: Some(5_000), warmup_packets: Some(0), ..scenario.run };
        let text = toml::to_string(&scenario).unwrap();
        assert_eq!(parse::<PacketScenario>(&text, Path::new("point.toml")).unwrap(), scenario);
    }

    #[test]
    fn impossible_points_are_refused_with_their_field() {
        let refused = |spoil: fn(&mut PacketScenario)| {
            let mut scenario = PacketScenario::default();
            spoil(&mut scenario);
            scenario.check().expect_err("a spoilt scenario is refused").field
        };
        assert_eq!(refused(|s| s.processors = 0), "processors");
        assert_eq!(refused(|s| s.rate_per_s = Some(PerSecond(-1.0))), "rate_per_s");
        assert_eq!(refused(|s| s.rate_per_s = Some(PerSecond(1e-300))), "rate_per_s");
        assert_eq!(refused(|s| s.run.precision = 1.5), "run.precision");
        assert_eq!(refused(|s| s.run.replications = 0), "run.replications");
        assert_eq!(refused(|s| s.run.packets = Some(999)), "run.packets");
        assert_eq!(refused(|s| s.run.warmup_packets = Some(10_000_001)), "run.warmup_packets");
        let fixed =
            |warmup| RunLength { packets: Some(1_000), warmup_packets: Some(warmup), ..RunLength::default() };
        assert!(fixed(500).check().is_ok() && fixed(501).check().is_err());
        assert_eq!(refused(|s| s.effects.staleness_ns = -1.0), "effects.staleness_ns");
        let mut ips = PacketScenario { stacks: Stacks::Count(9), ..PacketScenario::default() };
        ips.scheduling.approach = Parallelism::Ips;
        assert_eq!(ips.check_stacks(8).unwrap_err().field, "stacks");
        assert_eq!(ips.check_stacks(9), Ok(9));
    }
}
