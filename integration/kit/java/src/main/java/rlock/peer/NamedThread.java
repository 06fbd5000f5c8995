package rlock.peer;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.redisson.RedissonLock;

/** A thread that lives as long as the peer and runs what it is given in order. */
final class NamedThread {
    /** By its name, since old versions have none. */
    private static final String SPIN_LOCK = "org.redisson.RedissonSpinLock";

    /** Its waiter, too, waits on a semaphore of Java's. */
    private static final String PERMITS = "org.redisson.RedissonPermitExpirableSemaphore";

    /** So does this one. */
    private static final String SEMAPHORE = "org.redisson.RedissonSemaphore";

    /** What one who waits for a count-down latch is in. */
    private static final String GATE = "org.redisson.misc.ReclosableLatch";

    /** The task is what an interrupt reaches; what it returns is run when it no longer can. */
    private final BlockingQueue<Supplier<Runnable>> queue = new LinkedBlockingQueue<>();

    private final Thread thread;

    /** Whether a task is running, so that an interrupt never hits the next one. Guarded by this. */
    private boolean running;

    NamedThread(String name) {
        thread = new Thread(this::run, name);
        // One that still waits for a lock must not keep the process alive.
        thread.setDaemon(true);
        thread.start();
    }

    /** What Redisson writes as the second half of this thread's owner. */
    long id() {
        return thread.getId();
    }

    void submit(Supplier<Runnable> task) {
        queue.add(task);
    }

    /** Interrupts the running task. False if there is none; then nothing happens. */
    synchronized boolean interrupt() {
        if (running) {
            thread.interrupt();
        }
        return running;
    }

    /**
     * Whether the thread waits for a lock. With a plain one it waits for a release message, its
     * subscription confirmed and its second try refused; every Redisson does that, and only that,
     * on a semaphore. With a spin lock it sleeps between two tries.
     *
     * <p>It must sleep by then: the message 1 of a read-write lock wakes as many as Redisson finds
     * asleep, and one that is about to fall asleep misses it.
     */
    boolean parked() {
        return waits() && isAsleep();
    }

    private boolean isAsleep() {
        Thread.State state = thread.getState();
        return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
    }

    private boolean waits() {
        boolean inSemaphore = false;
        boolean asleep = false;
        for (StackTraceElement frame : thread.getStackTrace()) {
            String in = frame.getClassName();
            inSemaphore |= in.equals(Semaphore.class.getName());
            asleep |= in.equals(Thread.class.getName()) && frame.getMethodName().startsWith("sleep");
            if (in.startsWith("org.redisson.")) {
                return inSemaphore
                                && (in.equals(RedissonLock.class.getName())
                                        || in.equals(PERMITS)
                                        || in.equals(SEMAPHORE))
                        || in.equals(GATE)
                        || asleep && in.equals(SPIN_LOCK);
            }
        }
        return false;
    }

    private void run() {
        while (true) {
            Supplier<Runnable> task;
            try {
                task = queue.take();
            } catch (InterruptedException e) {
                throw new AssertionError("only running tasks are interrupted", e);
            }
            begin();
            Runnable afterwards;
            try {
                afterwards = task.get();
            } finally {
                end();
            }
            afterwards.run();
        }
    }

    private synchronized void begin() {
        running = true;
    }

    private synchronized void end() {
        running = false;
        // One that came too late for its task must not hit the next.
        Thread.interrupted();
    }
}
