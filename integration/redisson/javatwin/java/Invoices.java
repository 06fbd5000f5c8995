import java.util.concurrent.TimeUnit;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

// the page: the object
/** Issues invoices; any number of servers do, in Java and in Go. */
final class Invoices {
    private final RLock lock;
    private final Ledger ledger;

    Invoices(RedissonClient redisson, Ledger ledger) {
        this.lock = redisson.getLock("invoices");
        this.ledger = ledger;
    }
    // end

    // the page: one invoice
    /**
     * Issues one invoice; false if the lock was busy for five seconds.
     *
     * @throws IllegalMonitorStateException if the lock was lost meanwhile
     */
    boolean issueNext() throws InterruptedException {
        if (!lock.tryLock(5, TimeUnit.SECONDS)) { // no lease: the watchdog renews it
            return false;
        }
        try {
            long number = nextNumber();
            ledger.print(number); // goes on even if the lock is lost
            if (!lock.isHeldByCurrentThread()) { // asks Redis
                throw new IllegalMonitorStateException("lost while printing " + number);
            }
            ledger.book(number);
        } finally {
            lock.unlock(); // throws if the lock was lost
        }
        return true;
    }
    // end

    // the page: the nested method
    /** Takes a number. Credit notes take one outside issueNext, so it locks by itself. */
    long nextNumber() {
        lock.lock(); // inside issueNext: the second hold of this thread
        try {
            long number = ledger.last() + 1;
            ledger.setLast(number);
            return number;
        } finally {
            lock.unlock();
        }
    }
    // end

    // the page: the night
    /** Issues what it gets to issue until goal invoices are booked. */
    void night(long goal) throws InterruptedException {
        while (ledger.booked() < goal) {
            try {
                if (!issueNext()) {
                    ledger.note("busy");
                }
            } catch (IllegalMonitorStateException e) {
                ledger.note("lost"); // printed perhaps, not booked: for somebody to look at
            }
            ledger.mail(); // without the lock
        }
    }
    // end
}
