package rlock.peer;

import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** What a thread does over and over: a lock and its unlock, a permit and its release, or one count-down. */
interface Pair {
    void enter() throws Exception;

    void leave() throws Exception;

    static Pair of(RedissonClient client, Request request, String name) {
        return switch (request.kind()) {
            case "permits" -> ofPermit(client.getPermitExpirableSemaphore(name));
            case "semaphore" -> {
                RSemaphore s = client.getSemaphore(name);
                yield of(s::acquire, s::release);
            }
            case "countdown" -> {
                RCountDownLatch l = client.getCountDownLatch(name);
                yield of(l::countDown, () -> {});
            }
            default -> {
                RLock lock = request.lock(client, name);
                yield of(lock::lock, lock::unlock);
            }
        };
    }

    private static Pair ofPermit(RPermitExpirableSemaphore s) {
        String[] id = new String[1];
        return of(() -> id[0] = s.acquire(), () -> s.release(id[0]));
    }

    private static Pair of(Step enter, Step leave) {
        return new Pair() {
            @Override
            public void enter() throws Exception {
                enter.run();
            }

            @Override
            public void leave() throws Exception {
                leave.run();
            }
        };
    }

    /** One half. */
    interface Step {
        void run() throws Exception;
    }
}
