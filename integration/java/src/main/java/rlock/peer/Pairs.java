package rlock.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.redisson.api.RedissonClient;

/** Threads that enter and leave and do nothing else, each an object of its own or all the same one. */
final class Pairs {
    private final RedissonClient client;
    private final Request request;
    private final String prefix;
    private final int workers;
    private final long durationNanos;
    private final boolean shared;

    /** Written before the gate opens, read behind it. */
    private long deadline;

    /** Touched by whoever holds the shared lock; what Redis orders, Java's memory model need not. */
    private volatile Worker holder;

    private volatile long changes;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** pairs prefix workers durationMs shared */
    Pairs(RedissonClient client, Request r) {
        this.client = client;
        this.request = r;
        this.prefix = r.text(0);
        this.workers = r.count(1);
        this.durationNanos = TimeUnit.MILLISECONDS.toNanos(r.number(2));
        this.shared = Boolean.parseBoolean(r.text(3));
    }

    /**
     * Pairs granted before the end, and after it; how often the shared lock came to another worker
     * than before; when it started, and when the last pair that counts was released.
     */
    Object[] run() throws Exception {
        List<Worker> all = new ArrayList<>();
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < workers; i++) {
            Worker worker = new Worker(gate, shared ? prefix : prefix + i);
            all.add(worker);
            worker.start();
        }
        long started = System.nanoTime();
        deadline = started + durationNanos;
        gate.countDown();
        long done = 0;
        long late = 0;
        long ended = started;
        for (Worker worker : all) {
            worker.join();
            done += worker.done;
            late += worker.late;
            ended = Math.max(ended, worker.ended);
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a worker failed: " + failure.get(), failure.get());
        }
        return new Object[] {done, late, changes, started, ended};
    }

    private final class Worker extends Thread {
        private final CountDownLatch gate;
        private final Pair pair;

        /** Read by others after join, like the next. */
        private long done;

        private long late;
        private long ended;

        Worker(CountDownLatch gate, String name) {
            super("pairs-" + name);
            this.gate = gate;
            this.pair = Pair.of(client, request, name);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                gate.await();
                while (failure.get() == null && System.nanoTime() < deadline) {
                    pair.enter();
                    boolean inTime = System.nanoTime() < deadline;
                    if (shared && inTime && holder != this) {
                        holder = this;
                        changes++;
                    }
                    pair.leave();
                    if (inTime) {
                        done++;
                        ended = System.nanoTime();
                    } else {
                        late++;
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }
    }
}
