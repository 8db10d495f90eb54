//! Every dependency has a licence we accept, comes from the registry, and names a version.
//!
//! `deny.toml` holds the accepted licences. `make audit` checks known vulnerabilities too, which takes an advisory
//! database and minutes of building.

use cargo_metadata::{Metadata, MetadataCommand, Package};
use spdx::{Expression, Licensee};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Where every dependency comes from, as cargo names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Which licences are enough for a dependency.
struct Accepted {
    everywhere: Vec<Licensee>,
    /// What else is enough for a package of this name.
    exceptions: BTreeMap<String, Vec<Licensee>>,
}

impl Accepted {
    fn from_deny_toml(text: &str) -> Self {
        let table: toml::Table = text.parse().expect("deny.toml is TOML");
        let licences = &table["licenses"];
        let exceptions = licences.get("exceptions").and_then(toml::Value::as_array);
        let exception =
            |of: &toml::Value| (of["crate"].as_str().expect("a name").to_owned(), licensees(&of["allow"]));
        Self {
            everywhere: licensees(&licences["allow"]),
            exceptions: exceptions.into_iter().flatten().map(exception).collect(),
        }
    }

    /// Why `licence`, as the package `name` states it, is not enough; `None` if it is.
    fn fault(&self, name: &str, licence: Option<&str>) -> Option<String> {
        let Some(licence) = licence else { return Some("it states no licence".to_owned()) };
        // Older packages write `MIT/Apache-2.0`.
        let Ok(expression) = Expression::parse_mode(licence, spdx::ParseMode::LAX) else {
            return Some(format!("`{licence}` is not an SPDX expression"));
        };
        let accepted = || self.everywhere.iter().chain(self.exceptions.get(name).into_iter().flatten());
        let is_enough = expression.evaluate(|wanted| accepted().any(|licence| licence.satisfies(wanted)));
        (!is_enough).then(|| format!("`{licence}` is not in deny.toml"))
    }
}

fn licensees(names: &toml::Value) -> Vec<Licensee> {
    let licensee = |name: &toml::Value| {
        let name = name.as_str().expect("a licence is a text");
        Licensee::parse(name).unwrap_or_else(|error| panic!("`{name}` in deny.toml: {error}"))
    };
    names.as_array().expect("a list of licences").iter().map(licensee).collect()
}

fn workspace() -> Metadata {
    let other_options = ["--locked".to_owned(), "--all-features".to_owned()];
    MetadataCommand::new().other_options(other_options).exec().expect("cargo describes this workspace")
}

/// What is wrong with `package` as a dependency.
fn faults(package: &Package, accepted: &Accepted) -> Vec<String> {
    let elsewhere = package.source.as_ref().map(ToString::to_string).filter(|source| source != REGISTRY);
    let source = elsewhere.map(|source| format!("it comes from {source}"));
    let licence = accepted.fault(&package.name, package.license.as_deref());
    source
        .into_iter()
        .chain(licence)
        .map(|fault| format!("{} {}: {fault}", package.name, package.version))
        .collect()
}

#[test]
fn every_dependency_has_an_accepted_licence_and_comes_from_the_registry() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    let accepted = Accepted::from_deny_toml(&fs::read_to_string(root).expect("deny.toml can be read"));
    let metadata = workspace();
    let (own, others): (Vec<_>, Vec<_>) =
        metadata.packages.iter().partition(|package| package.source.is_none());
    assert!(own.len() > 10 && others.len() > 100, "{} of our own, {} others", own.len(), others.len());
    let faults: Vec<String> = others.iter().flat_map(|package| faults(package, &accepted)).collect();
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn every_dependency_on_the_registry_names_a_version() {
    for package in workspace().workspace_packages() {
        for import in package.dependencies.iter().filter(|import| import.path.is_none()) {
            assert_ne!(import.req.to_string(), "*", "{} on {}", package.name, import.name);
        }
    }
}

#[test]
fn what_is_not_accepted_is_found() {
    let accepted = Accepted::from_deny_toml(
        r#"
        [licenses]
        allow = ["MIT", "Apache-2.0"]
        exceptions = [{ crate = "one", allow = ["GPL-3.0-only"] }]
        "#,
    );
    for enough in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "MIT AND Apache-2.0"] {
        assert_eq!(accepted.fault("other", Some(enough)), None, "{enough}");
    }
    for too_little in [Some("GPL-3.0-only"), Some("MIT AND GPL-3.0-only"), Some("my own"), None] {
        assert!(accepted.fault("other", too_little).is_some(), "{too_little:?}");
    }
    assert_eq!(accepted.fault("one", Some("GPL-3.0-only")), None);
}
