//! Families of metrics, and the samples in them.

use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};

pub(crate) fn family(name: &str, help: &str, kind: MetricType) -> impl Fn(Vec<Metric>) -> MetricFamily {
    move |metrics| {
        let mut family = MetricFamily::default();
        family.set_name(name.to_owned());
        family.set_help(help.to_owned());
        family.set_field_type(kind);
        family.set_metric(metrics);
        family
    }
}

pub(crate) fn counter(value: f64, labels: Vec<LabelPair>) -> Metric {
    let mut counter = Counter::default();
    counter.set_value(value);
    let mut metric = Metric::from_label(labels);
    metric.set_counter(counter);
    metric
}

pub(crate) fn gauge(value: f64, labels: Vec<LabelPair>) -> Metric {
    let mut gauge = Gauge::default();
    gauge.set_value(value);
    let mut metric = Metric::from_label(labels);
    metric.set_gauge(gauge);
    metric
}

pub(crate) fn label(name: &str, value: impl ToString) -> LabelPair {
    let mut pair = LabelPair::default();
    pair.set_name(name.to_owned());
    pair.set_value(value.to_string());
    pair
}
