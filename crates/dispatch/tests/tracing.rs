//! What the `tracing` feature tells.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use warmcore_dispatch::{Dispatcher, Overload, Turn};

/// Counts what it is told: spans and what they say, and events by their level.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    /// How often each field was given to a span.
    fields: BTreeMap<&'static str, u64>,
    spans: u64,
    entered: u64,
    events: BTreeMap<Level, Vec<String>>,
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, _: &dyn fmt::Debug) {
        *self.fields.entry(field.name()).or_default() += 1;
    }
}

/// The text of an event.
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!("{}={value:?} ", field.name());
    }
}

impl Subscriber for Counts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "warmcore_dispatch"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut told = self.0.lock().unwrap();
        told.spans += 1;
        assert_eq!(span.metadata().level(), &Level::TRACE);
        span.record(&mut *told);
        Id::from_u64(told.spans)
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().events.entry(*event.metadata().level()).or_default().push(text.0);
    }

    fn enter(&self, _: &Id) {
        self.0.lock().unwrap().entered += 1;
    }

    fn exit(&self, _: &Id) {}

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

/// One test, as what is global is global.
#[test]
fn each_event_has_a_span_and_what_is_rare_is_told() {
    let counts = Counts::default();
    tracing::subscriber::set_global_default(counts.clone()).unwrap();
    let handle = |_: &Turn<'_, u64, u64>, event: u64| assert_ne!(event, 999, "unlucky");
    let builder = Dispatcher::<u64, u64>::builder().workers(2).name("traced");
    let dispatcher = builder.clone().build(handle).unwrap();
    (0..1_000).for_each(|event| dispatcher.dispatch(event % 9, event).unwrap());
    dispatcher.dispatch_keys([1, 2], 1).unwrap();
    dispatcher.dispatch_sequential(1).unwrap();
    dispatcher.wait_idle().unwrap();
    dispatcher.abort();
    dispatcher.wait_idle().unwrap();
    {
        let told = std::mem::take(&mut *counts.0.lock().unwrap());
        assert_eq!((told.spans, told.entered), (1_002, 1_002));
        let fields = |name| told.fields.get(name).copied().unwrap_or(0);
        assert_eq!([fields("worker"), fields("strand")], [1_002, 1_001]);
        assert!((10..=30).contains(&fields("wait_ns")), "one in 64: {:?}", told.fields);
        let [error] = &told.events[&Level::ERROR][..] else { panic!("{:?}", told.events) };
        assert!(error.contains("panicked") && error.contains("unlucky"), "{error}");
        let [built, aborted] = &told.events[&Level::DEBUG][..] else { panic!("{:?}", told.events) };
        assert!(built.contains("built") && built.contains("workers=2") && built.contains("name=traced"));
        assert!(aborted.contains("aborted"), "{aborted}");
        assert_eq!(told.events.len(), 2, "{:?}", told.events);
    }

    // Futures, which are entered whenever they are polled; and an overload, told once.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let executor = runtime.handle().clone();
    let spawn = move |task| drop(executor.spawn(task));
    let twice = |_, _: u64| tokio::task::yield_now();
    let dispatcher =
        builder.capacity(2).overload(Overload::Block).build_async::<u64, u64, _, _, _>(spawn, twice).unwrap();
    (0..1_000).for_each(|event| dispatcher.dispatch(event % 9, event).unwrap());
    drop(dispatcher);
    let told = std::mem::take(&mut *counts.0.lock().unwrap());
    assert_eq!((told.spans, told.entered), (1_000, 2_000));
    assert!(!told.events[&Level::WARN].is_empty(), "{:?}", told.events);
    assert_eq!(told.events[&Level::DEBUG].len(), 2, "{:?}", told.events);
}
