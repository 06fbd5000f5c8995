package rlock.peer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Threads that take one lock over and over, and count in Redis with a plain GET and SET, which only
 * the lock makes safe: if two were in at once, the counter ends below the number of rounds.
 */
final class Contention {
    private final RedissonClient client;
    private final Request request;
    private final String counter;
    private final int workers;
    private final long holdNanos;
    private final long thinkNanos;
    private final long leaseMillis;

    /** Zero: at once. */
    private final long startAt;

    /** Zero: no limit. */
    private final long durationNanos;

    /** Of each worker. */
    private final long rounds;

    /** Written before the gate opens, read behind it. */
    private long deadline;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Contention(
            RedissonClient client,
            Request request,
            String counter,
            int workers,
            long holdMicros,
            long thinkMicros,
            long leaseMillis,
            long startAt,
            long durationMillis,
            long rounds) {
        this.client = client;
        this.request = request;
        this.counter = counter;
        this.workers = workers;
        this.holdNanos = TimeUnit.MICROSECONDS.toNanos(holdMicros);
        this.thinkNanos = TimeUnit.MICROSECONDS.toNanos(thinkMicros);
        this.leaseMillis = leaseMillis;
        this.startAt = startAt;
        this.durationNanos = TimeUnit.MILLISECONDS.toNanos(durationMillis);
        this.rounds = rounds;
    }

    /** work name workers holdMicros thinkMicros durationMs counterKey startAt lease */
    static Contention timed(RedissonClient client, Request r) {
        return new Contention(
                client,
                r,
                r.text(5),
                r.count(1),
                r.number(2),
                r.number(3),
                r.number(7),
                r.number(6),
                r.number(4),
                Long.MAX_VALUE);
    }

    /** warm name rounds [workers]: every path that timed rounds take, so that they are compiled. */
    static Contention rounds(RedissonClient client, Request r) {
        int workers = r.arguments().size() > 2 ? r.count(2) : 1;
        return new Contention(
                client,
                r,
                r.text(0) + ":counter",
                workers,
                0,
                0,
                Commands.WATCHDOG,
                0,
                0,
                r.number(1));
    }

    /** Total, late, wait p50, p99 and max in µs, when it started and ended, rounds of each worker. */
    Object[] run() throws Exception {
        List<Worker> all = new ArrayList<>();
        CountDownLatch gate = new CountDownLatch(1);
        for (int i = 0; i < workers; i++) {
            Worker worker = new Worker(gate, i);
            all.add(worker);
            worker.start();
        }
        if (startAt != 0) {
            sleepUntil(startAt);
        }
        long started = System.nanoTime();
        deadline = durationNanos == 0 ? Long.MAX_VALUE : started + durationNanos;
        gate.countDown();
        for (Worker worker : all) {
            worker.join();
        }
        long ended = System.nanoTime();
        if (durationNanos == 0) {
            client.getBucket(counter, StringCodec.INSTANCE).delete();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a worker failed: " + failure.get(), failure.get());
        }
        return answer(all, started, ended);
    }

    private Object[] answer(List<Worker> all, long started, long ended) {
        long[] waits = all.stream().flatMapToLong(Worker::waits).sorted().toArray();
        List<Object> values = new ArrayList<>();
        values.add(all.stream().mapToLong(w -> w.done).sum());
        values.add(all.stream().mapToLong(w -> w.late).sum());
        values.add(percentileMicros(waits, 50));
        values.add(percentileMicros(waits, 99));
        values.add(percentileMicros(waits, 100));
        values.add(started);
        values.add(ended);
        all.forEach(w -> values.add(w.done));
        return values.toArray();
    }

    /** Nearest rank. */
    private static long percentileMicros(long[] sorted, int percent) {
        if (sorted.length == 0) {
            return 0;
        }
        int rank = (int) Math.ceil(sorted.length * (percent / 100.0));
        return TimeUnit.NANOSECONDS.toMicros(sorted[Math.max(rank, 1) - 1]);
    }

    private static void sleepUntil(long nanoTime) {
        for (long left; (left = nanoTime - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    private final class Worker extends Thread {
        private final CountDownLatch gate;
        private final RLock lock = request.lock(client, request.text(0));
        private final RBucket<String> count = client.getBucket(counter, StringCodec.INSTANCE);

        /** Rounds counted; granted in time. Read by others after join. */
        private long done;

        /** Grants that came after the deadline: given back at once and not counted. */
        private long late;

        private long[] waited = new long[1024];
        private int samples;

        Worker(CountDownLatch gate, int number) {
            super("worker-" + number);
            this.gate = gate;
            setDaemon(true);
        }

        LongStream waits() {
            return Arrays.stream(waited, 0, samples);
        }

        @Override
        public void run() {
            try {
                gate.await();
                while (done < rounds && failure.get() == null && System.nanoTime() < deadline) {
                    round();
                    if (thinkNanos > 0) {
                        sleepUntil(System.nanoTime() + thinkNanos);
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void round() {
            long asked = System.nanoTime();
            Commands.lock(lock, leaseMillis);
            long granted = System.nanoTime();
            record(granted - asked);
            if (granted >= deadline) {
                late++;
                lock.unlock();
                return;
            }
            String before = count.get();
            long next = before == null ? 1 : Long.parseLong(before) + 1;
            if (holdNanos > 0) {
                sleepUntil(System.nanoTime() + holdNanos);
            }
            count.set(Long.toString(next));
            done++;
            lock.unlock();
        }

        private void record(long nanos) {
            if (samples == waited.length) {
                waited = Arrays.copyOf(waited, samples * 2);
            }
            waited[samples++] = nanos;
        }
    }
}
