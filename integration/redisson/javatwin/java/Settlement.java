import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** A job under a lock. README.md shows it beside the Go one. */
final class Settlement {
    private Settlement() {}

    // README.md: a job under a lock

    /** Runs work under the lock; false if another owner held it for five seconds. */
    static boolean settle(RedissonClient redisson, Runnable work) throws InterruptedException {
        RLock lock = redisson.getLock("invoices");
        if (!lock.tryLock(5, TimeUnit.SECONDS)) {
            return false; // work did not run
        }
        try {
            work.run(); // goes on even if the lock is lost
        } finally {
            lock.unlock(); // throws if the lock was lost
        }
        return true;
    }

    // end
}
