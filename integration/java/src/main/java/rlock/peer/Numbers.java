package rlock.peer;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** The commands of a semaphore without owners, and of a count-down latch. What old versions lack is called by reflection. */
final class Numbers {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;
    private static final Class<?>[] COUNT = {int.class};

    private Numbers() {}

    static Object[] semaphore(RedissonClient client, Request r) throws Exception {
        RSemaphore s = client.getSemaphore(r.text(1));
        switch (r.command()) {
            case "acquire":
                s.acquire(r.count(2));
                return one("");
            case "tryacquire":
                return one(s.tryAcquire(r.count(2)));
            case "tryacquirefor":
                return one(s.tryAcquire(r.count(2), r.number(3), MS));
            case "release":
                s.release(r.count(2));
                return one("");
            case "releaseifexists":
                return one(Permits.call(RSemaphore.class, s, "releaseIfExists", COUNT, r.count(2)));
            case "trysetpermits":
                return one(s.trySetPermits(r.count(2)));
            case "addpermits":
                Permits.call(RSemaphore.class, s, "addPermits", COUNT, r.count(2));
                return one("");
            case "available":
                return one(s.availablePermits());
            case "drain":
                return one(s.drainPermits());
            case "delete":
                return one(s.delete());
            default:
                throw new IllegalArgumentException("no such command: " + r.command());
        }
    }

    static Object[] latch(RedissonClient client, Request r) throws Exception {
        RCountDownLatch l = client.getCountDownLatch(r.text(1));
        switch (r.command()) {
            case "trysetcount":
                return one(l.trySetCount(r.number(2)));
            case "countdown":
                l.countDown();
                return one("");
            case "await":
                l.await();
                return one("");
            case "awaitfor":
                return one(l.await(r.number(2), MS));
            case "count":
                return one(l.getCount());
            case "delete":
                return one(l.delete());
            default:
                throw new IllegalArgumentException("no such command: " + r.command());
        }
    }

    private static Object[] one(Object value) {
        return new Object[] {String.valueOf(value)};
    }
}
