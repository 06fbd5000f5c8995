package rlock.peer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Threads that want one lock all the time and send nothing but what the lock sends. Each turn is
 * three instants, so whoever has the turns of all processes can tell whether two were ever in at
 * once.
 */
final class Hammer {
    private final RedissonClient client;
    private final Request request;
    private final int workers;
    private final long holdNanos;
    private final long thinkNanos;
    private final long start;
    private final long end;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** hammer name workers holdMicros thinkMicros durationMs startAt */
    Hammer(RedissonClient client, Request r) {
        this.client = client;
        this.request = r;
        this.workers = r.count(1);
        this.holdNanos = TimeUnit.MICROSECONDS.toNanos(r.number(2));
        this.thinkNanos = TimeUnit.MICROSECONDS.toNanos(r.number(3));
        this.start = r.number(5) == 0 ? System.nanoTime() : r.number(5);
        this.end = start + TimeUnit.MILLISECONDS.toNanos(r.number(4));
    }

    /** All turns, each asked, granted, releasing, in base 64. */
    Object[] run() throws Exception {
        List<Worker> all = new ArrayList<>();
        for (int i = 0; i < workers; i++) {
            Worker worker = new Worker(i);
            all.add(worker);
            worker.start();
        }
        int size = 0;
        for (Worker worker : all) {
            worker.join();
            size += worker.size;
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a worker failed: " + failure.get(), failure.get());
        }
        ByteBuffer turns = ByteBuffer.allocate(size * Long.BYTES);
        for (Worker worker : all) {
            Arrays.stream(worker.instants, 0, worker.size).forEach(turns::putLong);
        }
        return new Object[] {Base64.getUrlEncoder().withoutPadding().encodeToString(turns.array())};
    }

    private static void sleepUntil(long nanoTime) {
        for (long left; (left = nanoTime - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    private final class Worker extends Thread {
        private final RLock lock = request.lock(client, request.text(0));

        /** Read by others after join, like its size. */
        private long[] instants = new long[3 * 1024];

        private int size;

        Worker(int number) {
            super("hammer-" + number);
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                sleepUntil(start);
                while (failure.get() == null && System.nanoTime() < end) {
                    turn();
                    if (thinkNanos > 0) {
                        sleepUntil(System.nanoTime() + thinkNanos);
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }

        private void turn() {
            long asked = System.nanoTime();
            lock.lock();
            long granted = System.nanoTime();
            if (holdNanos > 0 && granted < end) {
                sleepUntil(granted + holdNanos);
            }
            long releasing = System.nanoTime();
            lock.unlock();
            if (size == instants.length) {
                instants = Arrays.copyOf(instants, size * 2);
            }
            instants[size++] = asked;
            instants[size++] = granted;
            instants[size++] = releasing;
        }
    }
}
