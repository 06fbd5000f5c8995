package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;

/** The commands of a semaphore with permits. What old versions lack is called by reflection. */
final class Permits {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private Permits() {}

    static Object[] run(RedissonClient client, Request r) throws Exception {
        RPermitExpirableSemaphore s = client.getPermitExpirableSemaphore(r.text(1));
        switch (r.command()) {
            case "acquire":
                long lease = r.number(2);
                return one(lease == Commands.WATCHDOG ? s.acquire() : s.acquire(lease, MS));
            case "acquiremany":
                Class<?>[] types = {int.class, long.class, TimeUnit.class};
                return ((List<?>) call(s, "acquire", types, r.count(2), r.number(3), MS)).toArray();
            case "tryacquire":
                return one(s.tryAcquire());
            case "tryacquirefor":
                return one(s.tryAcquire(r.number(2), r.number(3), MS));
            case "release":
                s.release(r.text(2));
                return one("");
            case "releasemany":
                List<String> ids = r.arguments().subList(2, r.arguments().size());
                call(s, "release", new Class<?>[] {List.class}, ids);
                return one("");
            case "tryrelease":
                return one(s.tryRelease(r.text(2)));
            case "trysetpermits":
                return one(s.trySetPermits(r.count(2)));
            case "setpermits":
                call(s, "setPermits", new Class<?>[] {int.class}, r.count(2));
                return one("");
            case "addpermits":
                s.addPermits(r.count(2));
                return one("");
            case "updatelease":
                return one(s.updateLeaseTime(r.text(2), r.number(3), MS));
            case "leaseleft":
                return one(call(s, "getLeaseTime", new Class<?>[] {String.class}, r.text(2)));
            case "available":
                return one(s.availablePermits());
            case "acquired":
                return one(call(s, "acquiredPermits", new Class<?>[0]));
            case "total":
                return one(call(s, "getPermits", new Class<?>[0]));
            case "delete":
                return one(s.delete());
            default:
                throw new IllegalArgumentException("no such command: " + r.command());
        }
    }

    /** The text null is that nothing was taken. */
    private static Object[] one(Object value) {
        return new Object[] {String.valueOf(value)};
    }

    private static Object call(
            RPermitExpirableSemaphore s, String method, Class<?>[] types, Object... arguments)
            throws Exception {
        return call(RPermitExpirableSemaphore.class, s, method, types, arguments);
    }

    /** Calls what old versions lack. */
    static <T> Object call(
            Class<T> of, T object, String method, Class<?>[] types, Object... arguments)
            throws Exception {
        try {
            return of.getMethod(method, types).invoke(object, arguments);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("this Redisson has no " + method, e);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Exception cause) {
                throw cause;
            }
            throw e;
        }
    }
}
