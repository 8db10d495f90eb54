//! `warmcore host persist`.

use super::{apply, plan};
use crate::args::tune::PersistArguments;
use crate::misuse::{OrMisuse, misuse};
use crate::{folder, messages};
use miette::{IntoDiagnostic, WrapErr};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use warmcore_linux::tuning::persist::{Persistence, UNIT, persist};
use warmcore_linux::tuning::rivals;
use warmcore_record::atomic_file::Existing;

pub(super) fn run(arguments: &PersistArguments) -> miette::Result<()> {
    let program = std::env::current_exe().into_diagnostic().wrap_err("cannot tell where this program is")?;
    let document = plan::read(&arguments.plan)?;
    let disk = apply::disk(arguments.root.as_deref())?;
    plan::check_applicable(&document, &disk)?;
    let persistence = persist(&document.plan, &program, &arguments.admission.despite, &disk).or_misuse()?;
    rivals::on_system(&document.plan, &disk).into_diagnostic()?.iter().for_each(messages::note);
    persistence.unserved.iter().for_each(messages::note);
    let text = match &arguments.out {
        Some(out) => {
            write(out, &persistence)?;
            written(out, &persistence)
        }
        None => printed(&persistence),
    };
    crate::output::print(text.as_bytes())
}

/// Writes the files into the new folder `out`, or leaves none.
fn write(out: &Path, persistence: &Persistence) -> miette::Result<()> {
    let failed = || format!("cannot create the folder {}", out.display());
    fs::create_dir(out).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            misuse(format!("`{}` exists already: name a folder that does not", out.display()))
        }
        _ => misuse(format!("{}: {error}", failed())),
    })?;
    let written = persistence.files.iter().try_for_each(|file| {
        let path = out.join(file.path.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap_or(out)).into_diagnostic().wrap_err_with(failed)?;
        folder::write(&path, file.text.as_bytes(), Existing::Refuse)
    });
    written.inspect_err(|_| drop(fs::remove_dir_all(out)))
}

/// What was written, and how to install it.
fn written(out: &Path, persistence: &Persistence) -> String {
    let files = persistence.files.iter().map(|file| format!("  {}\n", file.path));
    let copy = format!("cp -r {} /", shell_word(out.join("etc").as_os_str()));
    let commands = std::iter::once(copy).chain(commands(persistence));
    format!(
        "{} holds, laid out as below /:\n{}To install them, as root:\n{}",
        out.display(),
        files.collect::<String>(),
        commands.map(|command| format!("  {command}\n")).collect::<String>()
    )
}

/// All files, each with its path in its first line.
fn printed(persistence: &Persistence) -> String {
    let files: String = persistence.files.iter().map(|file| format!("{}\n", file.text)).collect();
    let commands = commands(persistence).map(|command| format!("# {command}\n"));
    format!(
        "{files}# Each file belongs where its first line says; --out DIR writes them. Then, as root:\n{}",
        commands.collect::<String>()
    )
}

/// The commands by which installed files take effect.
fn commands(persistence: &Persistence) -> impl Iterator<Item = String> {
    let of_unit = ["udevadm control --reload".to_owned(), format!("systemctl enable --now {UNIT}")];
    let restarts = persistence.services.iter().map(|name| {
        format!(
            "systemctl restart {}  # when it suits: its cpus hold from then on",
            shell_word(OsStr::new(name))
        )
    });
    std::iter::once("systemctl daemon-reload".to_owned())
        .chain(of_unit.into_iter().filter(|_| persistence.has_unit))
        .chain(restarts)
}

/// Quotes a word for a shell, if it has to be.
fn shell_word(word: &OsStr) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-@:+".contains(letter);
    match word.to_str().filter(|word| !word.contains(char::is_control)) {
        Some(word) if !word.is_empty() && word.chars().all(is_plain) => word.to_owned(),
        Some(word) => format!("'{}'", word.replace('\'', r"'\''")),
        None => format!("$'{}'", word.as_bytes().escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_word_to_a_shell() {
        for (word, quoted) in [
            (&b"out/etc"[..], "out/etc"),
            (br"a\x2db.service", r"'a\x2db.service'"),
            (b"it's $x", r"'it'\''s $x'"),
            (b"a\nb\xff'", r"$'a\nb\xff\''"),
        ] {
            assert_eq!(shell_word(OsStr::from_bytes(word)), quoted);
        }
    }
}
