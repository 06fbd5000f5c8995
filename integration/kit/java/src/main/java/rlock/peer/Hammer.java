package rlock.peer;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Threads that want one lock all the time. Each turn is three instants, so whoever has the turns of all processes can tell
 * whether two were ever in at once. They may count in Redis with a plain GET and SET, which only the lock makes safe: if two
 * were in at once, the counter ends below the number of turns. Else they send nothing but what the lock sends.
 */
final class Hammer extends Load {
    private final RedissonClient client;
    private final Request request;
    private final long holdNanos;
    private final long thinkNanos;

    /** hammer name workers holdMicros thinkMicros durationMs startAt; of work, a counter behind that. */
    Hammer(RedissonClient client, Request r) {
        this.client = client;
        this.request = r;
        this.holdNanos = TimeUnit.MICROSECONDS.toNanos(r.number(2));
        this.thinkNanos = TimeUnit.MICROSECONDS.toNanos(r.number(3));
    }

    private List<Turns> played(String counter) throws Exception {
        List<Turns> all = Stream.generate(() -> new Turns(counter)).limit(request.count(1)).toList();
        play(all, request.number(5), request.number(4));
        return all;
    }

    /** All turns, each asked, granted, releasing, in base 64. */
    Object[] run() throws Exception {
        List<Turns> all = played(null);
        ByteBuffer turns = ByteBuffer.allocate(all.stream().mapToInt(w -> w.size).sum() * Long.BYTES);
        all.forEach(w -> Arrays.stream(w.instants, 0, w.size).forEach(turns::putLong));
        return new Object[] {Base64.getUrlEncoder().withoutPadding().encodeToString(turns.array())};
    }

    /** How many turns were counted, how many were granted too late for that, and when they began. */
    Object[] count() throws Exception {
        List<Turns> all = played(request.text(6));
        long done = all.stream().mapToLong(w -> w.done).sum();
        return new Object[] {done, all.stream().mapToLong(w -> w.size / 3).sum() - done, started};
    }

    private final class Turns extends Worker {
        private final RLock lock = request.lock(client, request.text(0));
        private final RBucket<String> count;
        private long[] instants = new long[3 * 1024];
        private int size;

        /** Granted in time. */
        private long done;

        Turns(String counter) {
            count = counter == null ? null : client.getBucket(counter, StringCodec.INSTANCE);
        }

        @Override
        void turn() {
            long asked = System.nanoTime();
            lock.lock();
            long granted = System.nanoTime();
            if (granted < end) {
                String before = count == null ? null : count.get();
                sleepUntil(System.nanoTime() + holdNanos);
                if (count != null) {
                    count.set(Long.toString(before == null ? 1 : Long.parseLong(before) + 1));
                }
                done++;
            }
            long releasing = System.nanoTime();
            lock.unlock();
            if (size == instants.length) {
                instants = Arrays.copyOf(instants, size * 2);
            }
            instants[size++] = asked;
            instants[size++] = granted;
            instants[size++] = releasing;
            sleepUntil(System.nanoTime() + thinkNanos);
        }
    }
}
