package rlock.peer;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Threads that begin together, and take turns of their own until an instant. */
abstract class Load {
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    /** Written before the gate opens, read behind it, like the next. */
    long started;

    long end;

    /** Has all begin at an instant, or at once if that is over, and returns when they have ended. */
    final void play(List<? extends Worker> all, long startAt, long durationMillis) throws Exception {
        all.forEach(Thread::start);
        sleepUntil(startAt);
        started = System.nanoTime();
        end = started + TimeUnit.MILLISECONDS.toNanos(durationMillis);
        gate.countDown();
        for (Worker worker : all) {
            worker.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a worker failed: " + failure.get(), failure.get());
        }
    }

    static void sleepUntil(long nanoTime) {
        for (long left; (left = nanoTime - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    /** What others read of one is read after join. */
    abstract class Worker extends Thread {
        Worker() {
            setDaemon(true);
        }

        abstract void turn() throws Exception;

        @Override
        public void run() {
            try {
                gate.await();
                while (failure.get() == null && System.nanoTime() < end) {
                    turn();
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        }
    }
}
