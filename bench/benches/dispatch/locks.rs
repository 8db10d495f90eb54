//! A lock for each key.

use crate::case::{Case, Event};
use crate::{BOUND, WORKERS};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

/// One queue for all; who takes an event takes its key's lock before the next one may be taken.
pub(crate) fn mutex_by_key(case: &Arc<Case>) {
    let locks: Vec<Mutex<()>> = (0..case.keys()).map(|_| Mutex::new(())).collect();
    let (sender, receiver) = mpsc::sync_channel::<Event>(BOUND);
    let receiver = Arc::new(Mutex::new(receiver));
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let (receiver, locks) = (receiver.clone(), &locks);
            scope.spawn(move || {
                loop {
                    let queue = receiver.lock().expect("nobody panics");
                    let Ok(event) = queue.recv() else { break };
                    let key = locks[event.key as usize].lock().expect("nobody panics");
                    drop(queue);
                    case.handle(event);
                    drop(key);
                }
            });
        }
        case.events().iter().for_each(|&event| sender.send(event).expect("it is open"));
        drop(sender);
    });
}
