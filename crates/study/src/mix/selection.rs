//! Which of the recorded threads are asked for.

use super::threads::Thread;

/// What is asked for: the threads that any of these names; all if none does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// Numbers of processes or threads. What these start while they are recorded belongs to them.
    pub processes: Vec<u32>,
    /// Commands of processes.
    pub commands: Vec<String>,
    /// Control groups, such as `/system.slice`, with all below them.
    pub control_groups: Vec<String>,
}

impl Selection {
    /// Whether all is asked for.
    #[must_use]
    pub const fn is_all(&self) -> bool {
        self.processes.is_empty() && self.commands.is_empty() && self.control_groups.is_empty()
    }

    /// Of each of `threads`, the commands of whose processes are `commands`, whether it is asked for.
    pub(super) fn of(&self, threads: &[Thread], commands: &[String]) -> Vec<bool> {
        let mut by_number = vec![false; threads.len()];
        let mut by_group = vec![false; threads.len()];
        for (index, thread) in threads.iter().enumerate() {
            // Who starts a thread was seen before it.
            let parent = thread.parent.filter(|&parent| parent < index);
            let is_named = [Some(thread.id), thread.process_number(threads)];
            by_number[index] = is_named.iter().flatten().any(|number| self.processes.contains(number))
                || parent.is_some_and(|parent| by_number[parent]);
            by_group[index] = match &thread.attributes {
                Some(known) => known.control_groups.iter().any(|group| self.names_group(group)),
                None => parent.is_some_and(|parent| by_group[parent]),
            };
        }
        let is_asked_for = |index: usize| {
            self.is_all() || by_number[index] || by_group[index] || self.commands.contains(&commands[index])
        };
        (0..threads.len()).map(is_asked_for).collect()
    }

    fn names_group(&self, group: &str) -> bool {
        self.control_groups.iter().any(|named| {
            let named = named.trim_end_matches('/');
            group.strip_prefix(named).is_some_and(|below| below.is_empty() || below.starts_with('/'))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_group_holds_those_below_it() {
        let control_groups = vec!["/a/b/".to_owned()];
        let selection = Selection { control_groups, ..Selection::default() };
        for (group, is_named) in [("/a/b", true), ("/a/b/c", true), ("/a/bc", false), ("/a", false)] {
            assert_eq!(selection.names_group(group), is_named, "{group}");
        }
    }
}
