import java.util.Map;
import org.redisson.api.RBucket;
import org.redisson.api.RList;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.client.codec.StringCodec;

/** The books, in Redis, with a log of who was at them when. Only the lock makes them safe. */
final class Ledger {
    private static final String SIDE = "java";

    private final RBucket<String> last;
    private final RList<String> booked;
    private final RBucket<String> inside;
    private final RStream<String, String> log;
    private final long printingMillis;
    private final long mailingMillis;

    Ledger(RedissonClient redisson, long printingMillis, long mailingMillis) {
        last = redisson.getBucket("ledger:last", StringCodec.INSTANCE);
        booked = redisson.getList("ledger:booked", StringCodec.INSTANCE);
        inside = redisson.getBucket("ledger:inside", StringCodec.INSTANCE);
        log = redisson.getStream("ledger:log", StringCodec.INSTANCE);
        this.printingMillis = printingMillis;
        this.mailingMillis = mailingMillis;
    }

    long last() {
        String text = last.get();
        return text == null ? 0 : Long.parseLong(text);
    }

    void setLast(long number) {
        last.set(Long.toString(number));
    }

    /** Prints one invoice. The log has when it began, whom it found inside, and when it ended. */
    void print(long number) throws InterruptedException {
        String found = inside.getAndSet(SIDE);
        note("in", number, found == null ? "" : found);
        Thread.sleep(printingMillis);
        inside.delete();
        note("out", number, "");
    }

    void book(long number) {
        booked.add(Long.toString(number));
    }

    long booked() {
        return booked.size();
    }

    void mail() throws InterruptedException {
        Thread.sleep(mailingMillis);
        note("mailed");
    }

    void note(String event) {
        note(event, 0, "");
    }

    void note(String event, long number, String found) {
        log.add(
                StreamAddArgs.entries(
                        Map.of(
                                "side", SIDE,
                                "event", event,
                                "number", Long.toString(number),
                                "found", found)));
    }
}
