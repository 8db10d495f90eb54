//! Tasks of `tokio`.

use crate::case::{Case, Event};
use crate::{BOUND, WORKERS};
use std::sync::Arc;

/// A task for each key; for a million of them, one for each of 1,024 groups of keys.
pub(crate) fn tokio_by_key(case: &Arc<Case>) {
    const MOST: usize = 1_024;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).build();
    let runtime = runtime.expect("workers can be started");
    let tasks = case.keys().min(MOST);
    runtime.block_on(async {
        let mut joined = Vec::new();
        let senders: Vec<_> = (0..tasks)
            .map(|_| {
                let (sender, mut receiver) = tokio::sync::mpsc::channel::<Event>(BOUND);
                let case = case.clone();
                joined.push(tokio::spawn(async move {
                    while let Some(event) = receiver.recv().await {
                        case.handle(event);
                    }
                }));
                sender
            })
            .collect();
        for &event in case.events() {
            senders[event.key as usize % tasks].send(event).await.expect("it is open");
        }
        drop(senders);
        for task in joined {
            task.await.expect("nobody panics");
        }
    });
}
