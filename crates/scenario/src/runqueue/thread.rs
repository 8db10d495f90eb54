//! A thread as it was recorded: what it computed and when it stopped, started others and woke them up, in the order in which it
//! did so.
//!
//! A scheduler decides who runs where and when; what a thread does does not depend on it. So a recording can be run under
//! another scheduler: a thread that waited for another one still does, and one that slept sleeps as long.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use warmcore_units::{CpuId, Fault};

/// A recorded thread.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedThread {
    /// Its nice value when it was first seen.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub nice: i32,
    /// Its group; 0 if it is in none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub group: u32,
    /// The only cpu that it may run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<CpuId>,
    /// Where it last ran before the recording.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuId>,
    /// What it did.
    pub steps: Steps,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(value: &i32) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_none(value: &u32) -> bool {
    *value == 0
}

/// What a thread does next. Times are in microseconds, as the kernel prints them; other threads are named by the number of
/// their process, counted through all applications.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// `120`: it computes for so long.
    Run(u64),
    /// `...`: it computes, for longer than was recorded.
    RunOn,
    /// `w7`: it wakes up thread 7, or lets it not block when it next would.
    Wake(u32),
    /// `d7`: the same, by deferred work of an interrupt that it caused, as when it sends to its own host.
    WakeLate(u32),
    /// `f7`: it starts thread 7.
    Start(u32),
    /// `e`: it goes on with another program.
    Exec,
    /// `n5`: its nice value becomes 5.
    Nice(i32),
    /// `b`: it blocks until another thread wakes it up.
    Block,
    /// `s400`, or `s400@1`: it blocks for so long, until an interrupt of the cpu where it last ran, or of this one.
    Sleep(u64, Option<CpuId>),
    /// `x`: it ends.
    Exit,
}

/// The steps of a thread, in the document a line of words.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Steps(pub Vec<Step>);

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run(us) => write!(f, "{us}"),
            Self::RunOn => f.write_str("..."),
            Self::Wake(thread) => write!(f, "w{thread}"),
            Self::WakeLate(thread) => write!(f, "d{thread}"),
            Self::Start(thread) => write!(f, "f{thread}"),
            Self::Exec => f.write_str("e"),
            Self::Nice(nice) => write!(f, "n{nice}"),
            Self::Block => f.write_str("b"),
            Self::Sleep(us, None) => write!(f, "s{us}"),
            Self::Sleep(us, Some(cpu)) => write!(f, "s{us}@{}", cpu.0),
            Self::Exit => f.write_str("x"),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let step = match word {
            "..." => Some(Self::RunOn),
            "e" => Some(Self::Exec),
            "b" => Some(Self::Block),
            "x" => Some(Self::Exit),
            _ => with_number(word),
        };
        step.ok_or_else(|| {
            format!("`{word}` is no step: expected microseconds, `...`, `b`, `s400`, `s400@1`, `w7`, `d7`, `f7`, `n5`, `e` or `x`")
        })
    }
}

fn with_number(word: &str) -> Option<Step> {
    if let Ok(us) = word.parse() {
        return Some(Step::Run(us));
    }
    let mut letters = word.chars();
    let letter = letters.next()?;
    let rest = letters.as_str();
    match letter {
        'w' => rest.parse().ok().map(Step::Wake),
        'd' => rest.parse().ok().map(Step::WakeLate),
        'f' => rest.parse().ok().map(Step::Start),
        'n' => rest.parse().ok().map(Step::Nice),
        's' => match rest.split_once('@') {
            Some((us, cpu)) => Some(Step::Sleep(us.parse().ok()?, Some(CpuId(cpu.parse().ok()?)))),
            None => rest.parse().ok().map(|us| Step::Sleep(us, None)),
        },
        _ => None,
    }
}

impl TryFrom<String> for Steps {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Steps> for String {
    fn from(steps: Steps) -> Self {
        let words: Vec<String> = steps.0.iter().map(ToString::to_string).collect();
        words.join(" ")
    }
}

/// The nice values that there are.
const NICE: core::ops::RangeInclusive<i32> = -20..=19;

/// The longest time of a step, in microseconds: a day.
const LONGEST_US: u64 = 86_400_000_000;

impl RecordedThread {
    /// Whether another thread starts it is for the whole scenario to say; this checks the thread alone.
    pub(super) fn check(&self, field: &str, cpus: u32, processes: u32) -> Result<(), Fault> {
        for (name, cpu) in [("attached", self.attached), ("cpu", self.cpu)] {
            if let Some(cpu) = cpu.filter(|cpu| cpu.0 >= cpus) {
                return Err(Fault::new(format!("{field}.{name}"), cpu.0, format!("a cpu below {cpus}")));
            }
        }
        if !NICE.contains(&self.nice) {
            return Err(Fault::new(format!("{field}.nice"), self.nice, "between -20 and 19"));
        }
        let refuse =
            |step: &Step, expected: String| Err(Fault::new(format!("{field}.steps"), step, expected));
        for step in &self.steps.0 {
            match *step {
                Step::Wake(thread) | Step::WakeLate(thread) | Step::Start(thread) if thread >= processes => {
                    return refuse(step, format!("a process below {processes}"));
                }
                Step::Sleep(_, Some(cpu)) if cpu.0 >= cpus => {
                    return refuse(step, format!("a cpu below {cpus}"));
                }
                Step::Nice(nice) if !NICE.contains(&nice) => {
                    return refuse(step, "n and a number between -20 and 19".to_owned());
                }
                Step::Run(us) | Step::Sleep(us, _) if us > LONGEST_US => {
                    return refuse(step, "at most a day in microseconds".to_owned());
                }
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_and_written_back() {
        let text = "120 w7 d8 30 s400 5 s400@1 b f12 e n-5 ... x";
        let steps = Steps::try_from(text.to_owned()).unwrap();
        assert_eq!(steps.0.len(), 13);
        assert_eq!(String::from(steps), text);
        for word in ["w", "q7", "s4@", "1.5", "-3", "f-1"] {
            assert!(Steps::try_from(word.to_owned()).unwrap_err().contains(word), "{word}");
        }
    }
}
