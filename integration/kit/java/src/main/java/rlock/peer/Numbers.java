package rlock.peer;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** The commands of a semaphore without owners, and of a count-down latch. What old versions lack is called by reflection. */
final class Numbers {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Numbers() {}

    static Object[] semaphore(RedissonClient client, Request r) throws Exception {
        RSemaphore s = client.getSemaphore(r.text(1));
        Object answer = "";
        switch (r.command()) {
            case "acquire" -> s.acquire(r.count(2));
            case "tryacquire" -> answer = s.tryAcquire(r.count(2));
            case "tryacquirefor" -> answer = s.tryAcquire(r.count(2), r.number(3), MS);
            case "release" -> s.release(r.count(2));
            case "releaseifexists" -> answer = call(s, "releaseIfExists", r);
            case "trysetpermits" -> answer = s.trySetPermits(r.count(2));
            case "addpermits" -> call(s, "addPermits", r);
            case "available" -> answer = s.availablePermits();
            case "drain" -> answer = s.drainPermits();
            case "delete" -> answer = s.delete();
            default -> throw r.unknown();
        }
        return new Object[] {answer};
    }

    private static Object call(RSemaphore s, String method, Request r) throws Exception {
        return Permits.call(RSemaphore.class, s, method, new Class<?>[] {int.class}, r.count(2));
    }

    static Object[] latch(RedissonClient client, Request r) throws Exception {
        RCountDownLatch l = client.getCountDownLatch(r.text(1));
        Object answer = "";
        switch (r.command()) {
            case "trysetcount" -> answer = l.trySetCount(r.number(2));
            case "countdown" -> l.countDown();
            case "await" -> l.await();
            case "awaitfor" -> answer = l.await(r.number(2), MS);
            case "count" -> answer = l.getCount();
            case "delete" -> answer = l.delete();
            default -> throw r.unknown();
        }
        return new Object[] {answer};
    }
}
