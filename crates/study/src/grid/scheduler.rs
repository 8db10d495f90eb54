//! Where a Dask scheduler is.

use warmcore_units::Fault;

/// How a scheduler can be spoken to over a network. `dask` is another word for `tcp`.
const SCHEMES: [&str; 6] = ["dask", "tcp", "tls", "ucx", "ws", "wss"];

/// The `address` of a Dask scheduler as its library wants it: a scheme, a host and a port.
///
/// # Errors
/// If it lacks one of them, or nobody speaks by that scheme.
pub fn scheduler_address(address: &str) -> Result<String, Fault> {
    let refused = |found: String| {
        Err(Fault::new("engine", found, "the address of a Dask scheduler, such as tcp://scheduler:8786"))
    };
    let Some((scheme, rest)) = address.split_once("://") else {
        return refused(format!("`{address}`, which has no scheme"));
    };
    if !SCHEMES.contains(&scheme) {
        return refused(format!(
            "`{address}`, whose scheme is `{scheme}` and none of {}",
            SCHEMES.join(", ")
        ));
    }
    let (host, port) = rest.trim_end_matches('/').rsplit_once(':').unwrap_or((rest, ""));
    let is_bare =
        |host: &str| !host.contains(|letter: char| letter.is_whitespace() || "/@[]:".contains(letter));
    let within_brackets = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    if host.is_empty() || !(is_bare(host) || within_brackets.is_some_and(|host| host.contains(':'))) {
        return refused(format!("`{address}`, which has no host"));
    }
    if port.parse::<u16>().ok().is_none_or(|port| port == 0) {
        return refused(format!("`{address}`, which has no port from 1 to 65535"));
    }
    let scheme = if scheme == "dask" { "tcp" } else { scheme };
    Ok(format!("{scheme}://{host}:{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_port() {
        assert_eq!(scheduler_address("dask://host:8786").as_deref(), Ok("tcp://host:8786"));
        assert_eq!(scheduler_address("tls://[::1]:1").as_deref(), Ok("tls://[::1]:1"));
        for (address, what) in [
            ("nonsense", "no scheme"),
            ("htp://host:1", "scheme is `htp`"),
            ("tcp://host", "no port"),
            ("tcp://host:many", "no port"),
            ("tcp://host:70000", "no port"),
            ("tcp://:8786", "no host"),
            ("tcp://::1:8786", "no host"),
            ("tcp://a b:8786", "no host"),
            ("tcp://scheduler/path:8786", "no host"),
        ] {
            let fault = scheduler_address(address).expect_err(address);
            assert!(fault.field == "engine" && fault.found.contains(what), "{fault}");
        }
    }
}
