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

    /** The text null is that nothing was taken. */
    static Object[] run(RedissonClient client, Request r) throws Exception {
        RPermitExpirableSemaphore s = client.getPermitExpirableSemaphore(r.text(1));
        Object answer = "";
        switch (r.command()) {
            case "acquire" -> {
                long lease = r.number(2);
                answer = lease == Commands.WATCHDOG ? s.acquire() : s.acquire(lease, MS);
            }
            case "acquiremany" -> {
                Class<?>[] types = {int.class, long.class, TimeUnit.class};
                return ((List<?>) call(s, "acquire", types, r.count(2), r.number(3), MS)).toArray();
            }
            case "tryacquire" -> answer = s.tryAcquire();
            case "tryacquirefor" -> answer = s.tryAcquire(r.number(2), r.number(3), MS);
            case "release" -> s.release(r.text(2));
            case "releasemany" -> {
                List<String> ids = r.arguments().subList(2, r.arguments().size());
                call(s, "release", new Class<?>[] {List.class}, ids);
            }
            case "tryrelease" -> answer = s.tryRelease(r.text(2));
            case "trysetpermits" -> answer = s.trySetPermits(r.count(2));
            case "setpermits" -> call(s, "setPermits", new Class<?>[] {int.class}, r.count(2));
            case "addpermits" -> s.addPermits(r.count(2));
            case "updatelease" -> answer = s.updateLeaseTime(r.text(2), r.number(3), MS);
            case "leaseleft" -> answer = call(s, "getLeaseTime", new Class<?>[] {String.class}, r.text(2));
            case "available" -> answer = s.availablePermits();
            case "acquired" -> answer = call(s, "acquiredPermits", new Class<?>[0]);
            case "total" -> answer = call(s, "getPermits", new Class<?>[0]);
            case "delete" -> answer = s.delete();
            default -> throw r.unknown();
        }
        return new Object[] {String.valueOf(answer)};
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
