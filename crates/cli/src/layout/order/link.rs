//! How to link with an order, and what it does not reach.

use crate::args::layout::LinkerName;
use crate::terminal::counted;
use crate::terminal::layout::shortened;
use std::path::Path;
use warmcore_layout::linker::Listing;
use warmcore_layout::trace::Function;
use warmcore_units::Bytes;

/// How many names are listed of those left out.
const LISTED: usize = 5;

/// How to link with the order in `file`, whose strategy wants `gaps`.
pub(super) fn how(linker: LinkerName, file: &Path, gaps: Bytes) -> String {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let shown = absolute.display().to_string();
    let quoted = shlex::try_quote(&shown).map_or(shown.clone(), std::borrow::Cow::into_owned);
    let flags = match linker {
        LinkerName::Lld => lld(&quoted),
        LinkerName::Gold => gold(&quoted),
        LinkerName::Script => script(&quoted),
    };
    let without = if linker != LinkerName::Script && gaps.0 > 0 {
        format!(
            "This order wants {} bytes of gaps, which only a script makes (--for script): the row without them holds.\n",
            gaps.0
        )
    } else {
        String::new()
    };
    format!("{flags}{without}")
}

fn lld(file: &str) -> String {
    let flag = format!("-Wl,--symbol-ordering-file={file}");
    format!(
        "Link with it:\n  \
         rustc: -C link-arg={flag}  (before 1.90 also -C link-arg=-fuse-ld=lld)\n  \
         cargo: cargo rustc --release -- -C link-arg={flag}\n  \
         cc:    -ffunction-sections -fuse-ld=lld {flag}\n\
         lld says which of the names it does not find; -Wl,--no-warn-symbol-ordering keeps it quiet.\n"
    )
}

fn gold(file: &str) -> String {
    let flag = format!("-Wl,--section-ordering-file={file}");
    format!(
        "Link with it:\n  \
         rustc: -C link-arg=-fuse-ld=gold -C link-arg={flag}\n  \
         cc:    -ffunction-sections -fuse-ld=gold {flag}\n"
    )
}

fn script(file: &str) -> String {
    format!(
        "Link with it: `ld -pie --verbose` prints the linker's own script, for a program that may lie anywhere; put the lines of {file} at the beginning of its \
         `.text`, let that begin with `.text : ALIGN(0x200000)`, and save it as full.ld:\n  \
         rustc: -C link-arg=-fuse-ld=bfd -C link-arg=-Wl,-T,full.ld\n  \
         cc:    -ffunction-sections -fuse-ld=bfd -Wl,-T,full.ld\n"
    )
}

/// What the order does not reach.
pub(super) fn left_out(listing: &Listing, of_others: &[Function], is_assumed: bool) -> String {
    let libraries: Vec<String> = of_others.iter().map(|function| function.name.clone()).collect();
    let mut text = [
        (&libraries, "of shared libraries stays where it is", "of shared libraries stay where they are"),
        (&listing.without_section, "has no section of its own", "have no section of their own"),
        (&listing.unwritable, "has a name that the file cannot hold", "have names that the file cannot hold"),
        (&listing.ambiguous, "has the name of another", "have the names of others"),
    ]
    .into_iter()
    .filter(|(names, _, _)| !names.is_empty())
    .map(|(names, one, several)| {
        let what = if names.len() == 1 { one } else { several };
        format!("Left out: {} {what}: {}.\n", counted(names.len(), "function"), some(names))
    })
    .collect::<String>();
    if is_assumed {
        text += "Every function is taken to have a section of its own: rustc gives it one, cc with -ffunction-sections, \
                 and what comes with the C library has none. --object FILE looks it up.\n";
    }
    text
}

/// The first names.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| shortened(name)).collect();
    let rest = names.len().saturating_sub(LISTED);
    let rest = if rest == 0 { String::new() } else { format!(" and {rest} more") };
    format!("{}{rest}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_said_once_for_each_reason() {
        let names = |count: usize| (0..count).map(|number| format!("f{number}")).collect::<Vec<_>>();
        let listing = Listing { without_section: names(1), ambiguous: names(7), ..Listing::default() };
        let text = left_out(&listing, &[], false);
        assert_eq!(
            text,
            "Left out: 1 function has no section of its own: f0.\nLeft out: 7 functions have the names of others: f0, f1, \
             f2, f3, f4 and 2 more.\n"
        );
    }

    #[test]
    fn a_path_with_a_space_is_quoted() {
        let flags = lld(&shlex::try_quote("/a b/order").expect("no zero byte"));
        assert!(flags.contains("'/a b/order'"), "{flags}");
    }
}
