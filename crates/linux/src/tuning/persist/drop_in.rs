//! The drop-in that gives a service the cpus of a plan.
//!
//! `CPUAffinity=` rather than `AllowedCPUs=`: every thread inherits it, it needs no particular version of control
//! groups, and a program that pins its own threads elsewhere goes on doing so. `AllowedCPUs=` is a cpuset of
//! version 2: no thread can leave it, and one that pins itself elsewhere fails. Where the plan places a control group,
//! that is what it means.

use super::service::Service;
use warmcore_topology::CpuSet;

/// Writes the drop-in of `service`.
pub(super) fn drop_in(service: &Service) -> String {
    let Service { name, processes, cpus, is_uniform, cpuset } = service;
    let mut text = String::new();
    if !processes.is_empty() {
        text += &affinity(name, processes, cpus, *is_uniform);
    }
    if let Some(cpus) = cpuset {
        text += &format!(
            "# The control group of {name} has these cpus, which needs control groups of version 2.\n\
             [Service]\n\
             AllowedCPUs=\n\
             AllowedCPUs={cpus}\n"
        );
    }
    text
}

fn affinity(name: &str, processes: &[String], cpus: &CpuSet, is_uniform: bool) -> String {
    // A comment that ended with a backslash would go on in the next line.
    let processes: Vec<String> = processes.iter().map(|name| format!("`{}`", name.escape_debug())).collect();
    let single = match is_uniform {
        true => "",
        false => {
            "# The plan gives its threads different cpus. These are all of them together: systemd cannot pin single\n\
             # threads, so each may run on any of them.\n"
        }
    };
    format!(
        "# Every thread of {name} starts on these cpus ({} of the plan). They hold from its next start.\n\
         {single}\
         # AllowedCPUs= instead, which needs control groups of version 2, also keeps threads there that pin themselves\n\
         # elsewhere.\n\
         [Service]\n\
         # Without this line the cpus of other files would be added.\n\
         CPUAffinity=\n\
         CPUAffinity={cpus}\n",
        processes.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_no_line_and_different_cpus_are_said() {
        let mut service = Service {
            name: "web.service".to_owned(),
            processes: vec!["a\n[Service]\\".to_owned()],
            cpus: "2-3,8".parse().unwrap(),
            is_uniform: true,
            cpuset: None,
        };
        let text = drop_in(&service);
        assert!(text.contains(r"(`a\n[Service]\\` of the plan)"), "{text}");
        assert!(text.ends_with("\nCPUAffinity=\nCPUAffinity=2-3,8\n"), "{text}");
        assert!(!text.contains("single"), "{text}");
        service.is_uniform = false;
        assert!(drop_in(&service).contains("cannot pin single"));
        let group = Service { processes: Vec::new(), cpuset: Some("4-7".parse().unwrap()), ..service };
        let text = drop_in(&group);
        assert!(text.ends_with("\nAllowedCPUs=\nAllowedCPUs=4-7\n") && !text.contains("Affinity"), "{text}");
    }
}
