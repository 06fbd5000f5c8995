package rlock.peer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** What each command does, and on which thread. */
final class Commands {
    /** A lease that means: renewed by the watchdog. */
    static final long WATCHDOG = -1;

    /** Longer than a hand-off takes. */
    private static final long HANDOVER_PAUSE_MS = 5;

    private static final Object[] NOTHING = {};

    private final RedissonClient client;
    private final Answers answers;
    private final Map<String, NamedThread> threads = new ConcurrentHashMap<>();

    Commands(RedissonClient client, Answers answers) {
        this.client = client;
        this.answers = answers;
    }

    /** Does not wait for the command. */
    void dispatch(Request request) {
        switch (request.command()) {
            case "interrupt" -> run(request, () -> values(thread(request).interrupt())).run();
            case "parked" -> run(request, () -> values(thread(request).parked())).run();
            case "work", "warm", "pairs", "hammer" ->
                    new Thread(() -> run(request, () -> contend(request)).run(), request.command())
                            .start();
            default -> {
                if (request.arguments().isEmpty()) {
                    run(request, () -> unknown(request)).run();
                } else {
                    NamedThread thread = thread(request);
                    thread.submit(() -> run(request, () -> onThread(request, thread)));
                }
            }
        }
    }

    private NamedThread thread(Request request) {
        return threads.computeIfAbsent(request.text(0), NamedThread::new);
    }

    private interface Operation {
        Object[] run() throws Exception;
    }

    /** Returns what sends the answer. */
    private Runnable run(Request request, Operation operation) {
        try {
            Object[] values = operation.run();
            long at = System.nanoTime();
            return () -> answers.success(request.id(), at, values);
        } catch (Throwable e) {
            long at = System.nanoTime();
            return () -> answers.failure(request.id(), at, e);
        }
    }

    private Object[] onThread(Request request, NamedThread thread) throws Exception {
        switch (request.command()) {
            case "threadid":
                return values(thread.id());
            case "owner":
                return values(client.getId() + ":" + thread.id());
            default:
                return switch (request.kind()) {
                    case "permits" -> Permits.run(client, request);
                    case "semaphore" -> Numbers.semaphore(client, request);
                    case "countdown" -> Numbers.latch(client, request);
                    default -> onLock(request);
                };
        }
    }

    private Object[] onLock(Request request) throws Exception {
        RLock lock = request.lock(client, request.text(1));
        switch (request.command()) {
            case "lock":
                lock(lock, request.number(2));
                return NOTHING;
            case "lockint":
                lockInterruptibly(lock, request.number(2));
                return NOTHING;
            case "trylock":
                return values(lock.tryLock());
            case "trylockfor":
                return values(tryLockFor(lock, request.number(2), request.number(3)));
            case "unlock":
                lock.unlock();
                return NOTHING;
            case "handover":
                long began = System.nanoTime();
                lock.unlock();
                // The answer would wake up who asked for it, on cores that the next holder needs now.
                Thread.sleep(HANDOVER_PAUSE_MS);
                return values(began);
            case "unlockas":
                unlockAs(lock, request.number(2));
                return NOTHING;
            case "forceunlock":
                return values(lock.forceUnlock());
            case "islocked":
                return values(lock.isLocked());
            case "isheld":
                return values(lock.isHeldByCurrentThread());
            case "isheldby":
                return values(lock.isHeldByThread(request.number(2)));
            case "holdcount":
                return values(lock.getHoldCount());
            case "remain":
                return values(lock.remainTimeToLive());
            case "locktoken":
                return values(Tokens.lock(lock, request.number(2)));
            case "trytokenfor":
                return values(Tokens.tryLockFor(lock, request.number(2), request.number(3)));
            case "token":
                return values(Tokens.last(lock));
            default:
                return unknown(request);
        }
    }

    private Object[] contend(Request request) throws Exception {
        if (request.command().equals("pairs")) {
            return new Pairs(client, request).run();
        }
        if (request.command().equals("hammer")) {
            return new Hammer(client, request).run();
        }
        Contention contention =
                switch (request.command()) {
                    case "warm" -> Contention.rounds(client, request);
                    default -> Contention.timed(client, request);
                };
        return contention.run();
    }

    /** The lease of -1 is Redisson's other overload, as a user would call it. */
    static void lock(RLock lock, long leaseMillis) {
        if (leaseMillis == WATCHDOG) {
            lock.lock();
        } else {
            lock.lock(leaseMillis, TimeUnit.MILLISECONDS);
        }
    }

    private static void lockInterruptibly(RLock lock, long leaseMillis)
            throws InterruptedException {
        if (leaseMillis == WATCHDOG) {
            lock.lockInterruptibly();
        } else {
            lock.lockInterruptibly(leaseMillis, TimeUnit.MILLISECONDS);
        }
    }

    private static boolean tryLockFor(RLock lock, long waitMillis, long leaseMillis)
            throws InterruptedException {
        if (leaseMillis == WATCHDOG) {
            return lock.tryLock(waitMillis, TimeUnit.MILLISECONDS);
        }
        return lock.tryLock(waitMillis, leaseMillis, TimeUnit.MILLISECONDS);
    }

    private static void unlockAs(RLock lock, long threadId) throws Exception {
        try {
            lock.unlockAsync(threadId).get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }

    private static Object[] unknown(Request request) {
        throw new IllegalArgumentException("no such command: " + request.command());
    }

    private static Object[] values(Object... values) {
        return values;
    }
}
