//! The settings of a driver that can be changed, and their values as text: what a journal keeps.

use super::{Channels, DriverSettings, Feature, Indirection};
use rustix::io::Errno;

/// A setting of a driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DriverSetting {
    /// The numbers of channels, of the kinds that have a number here. As text: `combined 4`, or
    /// `receive 2 transmit 2`.
    Channels(ChannelCounts),
    /// The table by which hashes choose receive queues. As text: `0 1 0 1`.
    Indirection,
    /// Ntuple filters. As text: `1` or `0`.
    Ntuple,
}

/// Numbers of channels by kind; `None` for a kind that is not of interest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct ChannelCounts {
    /// Channels that receive and transmit.
    pub combined: Option<u32>,
    /// Channels that only receive.
    pub receive: Option<u32>,
    /// Channels that only transmit.
    pub transmit: Option<u32>,
}

impl ChannelCounts {
    /// The names of the kinds, in the order in which they are written.
    const KINDS: [&str; 3] = ["combined", "receive", "transmit"];

    const fn counts(self) -> [Option<u32>; 3] {
        [self.combined, self.receive, self.transmit]
    }

    const fn from_counts([combined, receive, transmit]: [Option<u32>; 3]) -> Self {
        Self { combined, receive, transmit }
    }

    /// The counts of `channels` for the kinds that have a number here; `None` if it lacks one of them.
    fn current(self, channels: &Channels) -> Option<Self> {
        let there = [channels.combined, channels.receive, channels.transmit];
        let mut counts = self.counts();
        for (count, there) in counts.iter_mut().zip(there).filter(|(count, _)| count.is_some()) {
            *count = Some(there?);
        }
        Some(Self::from_counts(counts))
    }

    /// The most channels of these kinds, where the driver says; `None` if there may be as many as here.
    pub(crate) fn exceeded(self, channels: &Channels) -> Option<Self> {
        let mut most = [channels.combined_max, channels.receive_max, channels.transmit_max];
        let is_beyond = |(count, most): (Option<u32>, &Option<u32>)| count > *most && most.is_some();
        if !self.counts().into_iter().zip(&most).any(is_beyond) {
            return None;
        }
        for (most, count) in most.iter_mut().zip(self.counts()) {
            *most = most.filter(|_| count.is_some());
        }
        Some(Self::from_counts(most))
    }

    pub(crate) fn text(self) -> String {
        let named = Self::KINDS.iter().zip(self.counts());
        let words = named.filter_map(|(kind, count)| Some(format!("{kind} {}", count?)));
        words.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut counts = [None; 3];
        for pair in words.chunks(2) {
            let [kind, count] = pair else { return None };
            let place = Self::KINDS.iter().position(|known| known == kind)?;
            counts[place] = Some(count.parse().ok()?);
        }
        Some(Self::from_counts(counts)).filter(|counts| *counts != Self::default())
    }
}

/// Writes a table as text.
pub(crate) fn table_text(table: &[u32]) -> String {
    table.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Parses a table; `None` if it is empty or malformed.
pub(crate) fn parse_table(text: &str) -> Option<Vec<u32>> {
    let table: Vec<u32> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    Some(table).filter(|table| !table.is_empty())
}

/// Parses a switch.
pub(super) fn parse_switch(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

impl DriverSettings {
    /// The value of `setting` as text; `None` if the driver does not have it.
    pub(crate) fn text(&self, setting: DriverSetting) -> Option<String> {
        match setting {
            DriverSetting::Channels(kinds) => kinds.current(&self.channels?).map(ChannelCounts::text),
            DriverSetting::Indirection => self.indirection.as_ref().map(|table| table_text(&table.0)),
            DriverSetting::Ntuple => self.features.ntuple.map(|feature| u32::from(feature.on).to_string()),
        }
    }

    /// Changes the value of `setting`, as a driver would.
    ///
    /// # Errors
    /// `EOPNOTSUPP` if the driver does not have it or cannot change it, `EINVAL` if it cannot have that value.
    pub(crate) fn set(&mut self, setting: DriverSetting, text: &str) -> Result<(), Errno> {
        match setting {
            DriverSetting::Channels(_) => {
                let channels = self.channels.as_mut().ok_or(Errno::OPNOTSUPP)?;
                set_channels(channels, ChannelCounts::parse(text).ok_or(Errno::INVAL)?)
            }
            DriverSetting::Indirection => {
                let Indirection(table) = self.indirection.as_mut().ok_or(Errno::OPNOTSUPP)?;
                let wanted = parse_table(text).filter(|wanted| wanted.len() == table.len());
                *table = wanted.ok_or(Errno::INVAL)?;
                Ok(())
            }
            DriverSetting::Ntuple => match self.features.ntuple.as_mut() {
                Some(Feature { on, fixed: false }) => {
                    *on = parse_switch(text).ok_or(Errno::INVAL)?;
                    Ok(())
                }
                _ => Err(Errno::OPNOTSUPP),
            },
        }
    }
}

fn set_channels(channels: &mut Channels, wanted: ChannelCounts) -> Result<(), Errno> {
    if wanted.exceeded(channels).is_some() {
        return Err(Errno::INVAL);
    }
    let kinds = [&mut channels.combined, &mut channels.receive, &mut channels.transmit];
    for (count, wanted) in kinds.into_iter().zip(wanted.counts()) {
        let Some(wanted) = wanted else { continue };
        if count.is_none() {
            return Err(Errno::INVAL);
        }
        *count = Some(wanted);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_written_and_read_by_kind() {
        let counts = ChannelCounts { combined: None, receive: Some(2), transmit: Some(3) };
        assert_eq!(counts.text(), "receive 2 transmit 3");
        assert_eq!(ChannelCounts::parse("receive 2 transmit 3"), Some(counts));
        for text in ["", "combined", "combined x", "combined 2 receive", "other 1"] {
            assert_eq!(ChannelCounts::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_copy_refuses_what_a_driver_would() {
        let counts = |combined| ChannelCounts { combined: Some(combined), ..ChannelCounts::default() };
        let channels = Channels { combined: Some(8), combined_max: Some(16), ..Channels::default() };
        let mut settings = DriverSettings {
            channels: Some(channels),
            indirection: Some(Indirection(vec![0, 1])),
            ..DriverSettings::default()
        };
        let setting = DriverSetting::Channels(counts(1));
        assert_eq!(settings.text(setting).as_deref(), Some("combined 8"));
        assert_eq!(settings.set(setting, "combined 17"), Err(Errno::INVAL));
        assert_eq!(settings.set(setting, "combined 16"), Ok(()));
        assert_eq!(settings.text(setting).as_deref(), Some("combined 16"));
        let separate =
            DriverSetting::Channels(ChannelCounts { receive: Some(1), ..ChannelCounts::default() });
        assert_eq!(settings.text(separate), None, "it has none of that kind");
        assert_eq!(settings.set(separate, "receive 1"), Err(Errno::INVAL));
        assert_eq!(settings.set(DriverSetting::Indirection, "0 1 2"), Err(Errno::INVAL), "another length");
        assert_eq!(settings.set(DriverSetting::Indirection, "1 1"), Ok(()));
        assert_eq!(settings.text(DriverSetting::Indirection).as_deref(), Some("1 1"));
        assert_eq!(settings.set(DriverSetting::Ntuple, "1"), Err(Errno::OPNOTSUPP));
        settings.features.ntuple = Some(Feature { on: false, fixed: true });
        assert_eq!(settings.set(DriverSetting::Ntuple, "1"), Err(Errno::OPNOTSUPP), "it is fixed");
    }
}
