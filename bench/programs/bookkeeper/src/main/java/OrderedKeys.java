import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import org.apache.bookkeeper.common.util.OrderedExecutor;

/**
 * Apache BookKeeper's OrderedExecutor as a peer of the dispatch queue: one thread per worker, and each key
 * bound to a thread.
 *
 * <p>The arguments are the number of workers and the greatest number of waiting events. Prints its version
 * first, then answers each request line:
 *
 * <pre>
 *   request                      answer
 *   time TURNS                   nanoseconds that TURNS turns of the handler's work take
 *   run KEYS EVENTS TURNS FILE   seconds, and violations of the order
 * </pre>
 *
 * <p>FILE contains the events' keys, 32 bits each, least significant byte first. The handler, its work and
 * the check of the order are those of case.rs and work.rs. The executor's own bound throws an exception when
 * the sender is too fast, and uses a slower queue; so this program uses the bound of room.rs instead.
 */
public final class OrderedKeys {
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int workers = Integer.parseInt(arguments[0]);
        int capacity = Integer.parseInt(arguments[1]);
        System.out.println(version() + " (Java " + System.getProperty("java.version") + ")");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ", 5);
            switch (words[0]) {
                case "time" -> System.out.println(Work.nanosOf(Long.parseLong(words[1])));
                case "run" -> {
                    int keys = Integer.parseInt(words[1]);
                    int events = Integer.parseInt(words[2]);
                    Case of = new Case(Path.of(words[4]), keys, events, Long.parseLong(words[3]));
                    double seconds = run(of, workers, capacity);
                    System.out.println(seconds + " " + of.violations());
                }
                default -> throw new IllegalArgumentException("unknown request: " + line);
            }
        }
    }

    /** The version in the name of the jar that contains the executor's class. */
    private static String version() {
        String file = OrderedExecutor.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return file.replaceAll(".*/bookkeeper-common-(.*)\\.jar", "$1");
    }

    /** Returns the seconds until all events have been handled. */
    private static double run(Case of, int workers, int capacity) throws InterruptedException {
        Room room = new Room(capacity);
        long begun = System.nanoTime();
        OrderedExecutor executor = OrderedExecutor.newBuilder().name("peer").numThreads(workers).build();
        for (int index = 0; index < of.keyOf.length; index++) {
            if (index % Room.STEP == 0) {
                room.enter();
            }
            int key = of.keyOf[index];
            int number = of.numberOf[index];
            executor.executeOrdered(key, () -> {
                of.handle(key, number);
                room.leave();
            });
        }
        // A shutdown may drop queued events, so first wait for each thread to reach the end of its queue.
        CountDownLatch done = new CountDownLatch(workers);
        for (int worker = 0; worker < workers; worker++) {
            // The executor ignores the lowest bit of a key.
            executor.executeOrdered(2 * worker, done::countDown);
        }
        done.await();
        executor.shutdown();
        executor.awaitTermination(1, TimeUnit.HOURS);
        return (System.nanoTime() - begun) / 1e9;
    }

    /** The events of a run and the state of their handler. */
    private static final class Case {
        private static final int LINE = 64 / Integer.BYTES;
        /** With at most this many keys, each key's count has its own cache line, as in the other programs. */
        private static final int KEYS_WITH_LINES = 1_024;

        final int[] keyOf;
        final int[] numberOf;
        private final AtomicIntegerArray handled;
        private final int step;
        private final long turns;
        private final LongAdder wrong = new LongAdder();

        Case(Path file, int keys, int count, long turns) throws IOException {
            this.turns = turns;
            step = keys <= KEYS_WITH_LINES ? LINE : 1;
            handled = new AtomicIntegerArray(keys * step);
            keyOf = new int[count];
            numberOf = new int[count];
            try (FileChannel channel = FileChannel.open(file)) {
                MappedByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, 4L * count);
                bytes.order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(keyOf);
            }
            int[] numbers = new int[keys];
            for (int index = 0; index < count; index++) {
                numberOf[index] = numbers[keyOf[index]]++;
            }
        }

        void handle(int key, int number) {
            if (handled.getOpaque(key * step) != number) {
                wrong.increment();
            }
            Work.work(turns);
            handled.setOpaque(key * step, number + 1);
        }

        /** The number of events handled out of order or not handled. */
        long violations() {
            long sum = 0;
            for (int place = 0; place < handled.length(); place++) {
                sum += handled.get(place);
            }
            return wrong.sum() + Math.abs(keyOf.length - sum);
        }
    }

    /** The handler's work. */
    private static final class Work {
        static void work(long turns) {
            long state = 1;
            for (long turn = 0; turn < turns; turn++) {
                state = state * 6364136223846793005L + 1;
                state ^= state >>> 31;
            }
            // Never true, but the compiler does not know, so it keeps the loop.
            if (state == 0) {
                throw new IllegalStateException();
            }
        }

        /** Nanoseconds that `turns` turns of work take, calls back to back: the least of several trials. */
        static double nanosOf(long turns) {
            int trials = 9;
            int calls = 10_000;
            double least = Double.POSITIVE_INFINITY;
            for (int trial = 0; trial < trials; trial++) {
                long begun = System.nanoTime();
                for (int call = 0; call < calls; call++) {
                    work(turns);
                }
                least = Math.min(least, (System.nanoTime() - begun) / (double) calls);
            }
            return least;
        }
    }

    /** Bounds the number of waiting events. */
    private static final class Room {
        /** Events are counted in steps of this size. */
        static final int STEP = 64;

        private final int capacity;
        private int inside;
        private final ThreadLocal<int[]> uncounted = ThreadLocal.withInitial(() -> new int[1]);

        Room(int capacity) {
            this.capacity = capacity;
        }

        /** Called before each step of events is sent; waits if the bound is reached. */
        synchronized void enter() throws InterruptedException {
            if (inside + STEP > capacity) {
                while (inside > capacity / 2) {
                    wait();
                }
            }
            inside += STEP;
        }

        /** Called for each event that has been handled. */
        void leave() {
            int[] own = uncounted.get();
            own[0]++;
            if (own[0] == STEP) {
                own[0] = 0;
                synchronized (this) {
                    inside -= STEP;
                    if (inside <= capacity / 2) {
                        notify();
                    }
                }
            }
        }
    }
}
