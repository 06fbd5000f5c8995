package rlock.peer;

import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;

/** What only a fenced lock has, by reflection, since old versions have none. */
final class Tokens {
    private Tokens() {}

    static Object lock(RLock lock, long leaseMillis) throws Exception {
        if (leaseMillis == Commands.WATCHDOG) {
            return call(lock, "lockAndGetToken", new Class<?>[0]);
        }
        Class<?>[] types = {long.class, TimeUnit.class};
        return call(lock, "lockAndGetToken", types, leaseMillis, TimeUnit.MILLISECONDS);
    }

    /** The text null if the lock was not taken. */
    static Object tryLockFor(RLock lock, long waitMillis, long leaseMillis) throws Exception {
        Class<?>[] types = {long.class, long.class, TimeUnit.class};
        Object[] arguments = {waitMillis, leaseMillis, TimeUnit.MILLISECONDS};
        return String.valueOf(call(lock, "tryLockAndGetToken", types, arguments));
    }

    static Object last(RLock lock) throws Exception {
        return call(lock, "getToken", new Class<?>[0]);
    }

    private static Object call(RLock lock, String method, Class<?>[] types, Object... arguments)
            throws Exception {
        @SuppressWarnings("unchecked")
        Class<RLock> fenced = (Class<RLock>) Class.forName("org.redisson.api.RFencedLock");
        return Permits.call(fenced, lock, method, types, arguments);
    }
}
