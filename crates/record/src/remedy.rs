//! What a user can do about files that are in the way of a run, without the words of a front end.

use std::error::Error;

/// Something that a user can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// Continue what is there.
    Resume,
    /// Remove what is there.
    BeginAnew,
    /// Name another folder.
    OtherFolder,
    /// Begin with the arguments of what is there.
    SameArguments,
    /// Wait for another process.
    Wait,
    /// Take the program that wrote what is there.
    OtherProgram,
    /// Fetch the file again.
    Fetch,
    /// Remove the file, of which the rows are simulated again.
    RemoveFile,
    /// Remove the file, which is written again from what was asked for.
    RewriteFile,
}

impl Remedy {
    const fn words(self) -> &'static str {
        match self {
            Self::Resume => "resume it",
            Self::BeginAnew => "begin anew",
            Self::OtherFolder => "give another folder",
            Self::SameArguments => "give the same arguments",
            Self::Wait => "wait until that has ended",
            Self::OtherProgram => "read it with the program that wrote it",
            Self::Fetch => "fetch it again",
            Self::RemoveFile => "remove it so that its rows are found again",
            Self::RewriteFile => "remove it and resume, which writes it again",
        }
    }
}

/// An error that a user can do something about.
pub trait Remedied: Error {
    /// What can be done; nothing if the error says all.
    fn remedies(&self) -> &'static [Remedy];

    /// The error and what can be done, each remedy with the `option` of the front end that does it.
    fn in_words(&self, option: impl Fn(Remedy) -> Option<&'static str>) -> String {
        let one = |remedy: &Remedy| match option(*remedy) {
            Some(option) => format!("{} ({option})", remedy.words()),
            None => remedy.words().to_owned(),
        };
        let all: Vec<String> = self.remedies().iter().map(one).collect();
        match &all[..] {
            [] => self.to_string(),
            [one] => format!("{self}: {one}"),
            [one, other] => format!("{self}: {one}, or {other}"),
            [others @ .., last] => format!("{self}: {}, or {last}", others.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::DataSetError;
    use crate::owned_folder::FolderError;

    #[test]
    fn remedies_are_told_with_the_options_of_the_front_end() {
        let option = |remedy| match remedy {
            Remedy::Resume => Some("--resume"),
            Remedy::BeginAnew => Some("--force"),
            _ => None,
        };
        let told = DataSetError::Exists { path: "set".into() }.in_words(option);
        let remedies = "resume it (--resume), begin anew (--force), or give another folder";
        assert_eq!(told, format!("`set` has a data set already: {remedies}"));
        let in_use = DataSetError::Folder(FolderError::InUse { path: "set".into() });
        let remedies = "wait until that has ended, or give another folder";
        let told = in_use.in_words(option);
        assert_eq!(told, format!("the folder `set` is in use by another process: {remedies}"));
        let none = DataSetError::None { path: "set".into() };
        assert_eq!(none.in_words(option), none.to_string());
    }
}
