import java.io.IOException;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * The nightly job as a program, the twin of the Go one: URL, lockWatchdogTimeout, time to print and
 * to mail one invoice (all in ms), invoices to book, credit notes. It says ready, begins at a line
 * on standard input, and ends when it is done or standard input ends.
 */
public final class InvoiceNight {
    private static final long CREDIT_MILLIS = 20;

    private InvoiceNight() {}

    public static void main(String[] args) throws Exception {
        Config config = new Config();
        config.setLockWatchdogTimeout(Long.parseLong(args[1]));
        config.useSingleServer()
                .setAddress(args[0])
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(4)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1);
        RedissonClient redisson = Redisson.create(config);
        Ledger ledger = new Ledger(redisson, Long.parseLong(args[2]), Long.parseLong(args[3]));
        Invoices invoices = new Invoices(redisson, ledger);
        ledger.note("ready");
        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        endWithStandardInput();

        long credits = Long.parseLong(args[5]);
        Thread crediting = new Thread(() -> credit(invoices, ledger, credits), "credit");
        crediting.start();
        invoices.night(Long.parseLong(args[4]));
        crediting.join();
        boolean settled = Settlement.settle(redisson, () -> settle(ledger));
        redisson.shutdown();
        if (!settled) {
            throw new IllegalStateException("the lock was busy, nothing was settled");
        }
    }

    private static void credit(Invoices invoices, Ledger ledger, long credits) {
        try {
            for (long i = 0; i < credits; i++) {
                ledger.note("credit", invoices.nextNumber(), "");
                Thread.sleep(CREDIT_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void settle(Ledger ledger) {
        try {
            ledger.note("settling");
            ledger.mail();
            ledger.note("settled");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void endWithStandardInput() {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                while (System.in.read() >= 0) {}
                            } catch (IOException e) {
                                // As good as its end.
                            }
                            Runtime.getRuntime().halt(1);
                        },
                        "standard input");
        thread.setDaemon(true);
        thread.start();
    }
}
