package rlock.peer;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** What each command does, and on which thread. */
final class Commands {
    /** A lease that means: renewed by the watchdog. */
    static final long WATCHDOG = -1;

    /** Longer than a hand-off takes. */
    private static final long HANDOVER_PAUSE_MS = 5;

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
            case "work", "pairs", "hammer" ->
                    new Thread(() -> run(request, () -> contend(request)).run(), request.command())
                            .start();
            default -> {
                if (request.arguments().isEmpty()) {
                    answers.failure(request.id(), System.nanoTime(), request.unknown());
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
        return switch (request.command()) {
            case "owner" -> values(client.getId() + ":" + thread.id());
            default -> switch (request.kind()) {
                case "permits" -> Permits.run(client, request);
                case "semaphore" -> Numbers.semaphore(client, request);
                case "countdown" -> Numbers.latch(client, request);
                default -> onLock(request);
            };
        };
    }

    private Object[] onLock(Request request) throws Exception {
        RLock lock = request.lock(client, request.text(1));
        Object answer = null;
        switch (request.command()) {
            case "lock" -> lock(lock, request.number(2));
            case "lockint" -> lockInterruptibly(lock, request.number(2));
            case "trylock" -> answer = lock.tryLock();
            case "trylockfor" -> answer = tryLockFor(lock, request.number(2), request.number(3));
            case "unlock" -> lock.unlock();
            case "handover" -> {
                answer = System.nanoTime();
                lock.unlock();
                // The answer wakes the process that asked for it, on cores that the next holder needs now.
                Thread.sleep(HANDOVER_PAUSE_MS);
            }
            case "forceunlock" -> answer = lock.forceUnlock();
            case "islocked" -> answer = lock.isLocked();
            case "isheld" -> answer = lock.isHeldByCurrentThread();
            case "holdcount" -> answer = lock.getHoldCount();
            case "remain" -> answer = lock.remainTimeToLive();
            case "locktoken" -> answer = Tokens.lock(lock, request.number(2));
            case "trytokenfor" -> answer = Tokens.tryLockFor(lock, request.number(2), request.number(3));
            case "token" -> answer = Tokens.last(lock);
            default -> throw request.unknown();
        }
        return answer == null ? values() : values(answer);
    }

    private Object[] contend(Request request) throws Exception {
        return switch (request.command()) {
            case "pairs" -> new Pairs(client, request).run();
            case "hammer" -> new Hammer(client, request).run();
            default -> new Hammer(client, request).count();
        };
    }

    /** The lease of -1 is Redisson's other overload, as a user would call it. */
    private static void lock(RLock lock, long leaseMillis) {
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

    private static Object[] values(Object... values) {
        return values;
    }
}
