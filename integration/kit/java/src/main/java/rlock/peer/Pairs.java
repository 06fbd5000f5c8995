package rlock.peer;

import java.util.List;
import java.util.stream.IntStream;
import org.redisson.api.RedissonClient;

/** Threads that enter and leave and do nothing else, each an object of its own or all the same one. */
final class Pairs extends Load {
    private final RedissonClient client;
    private final Request request;
    private final boolean shared;

    /** Touched by whoever holds the shared lock; what Redis orders, Java's memory model need not. */
    private volatile Worker holder;

    private volatile long changes;

    /** pairs prefix workers durationMs shared */
    Pairs(RedissonClient client, Request r) {
        this.client = client;
        this.request = r;
        this.shared = Boolean.parseBoolean(r.text(3));
    }

    /**
     * Pairs granted before the end, and after it; how often the shared lock came to another worker
     * than before; when it started, and when the last pair that counts was released.
     */
    Object[] run() throws Exception {
        String prefix = request.text(0);
        List<Pairing> all =
                IntStream.range(0, request.count(1))
                        .mapToObj(i -> new Pairing(shared ? prefix : prefix + i))
                        .toList();
        play(all, 0, request.number(2));
        return new Object[] {
            all.stream().mapToLong(w -> w.done).sum(),
            all.stream().mapToLong(w -> w.late).sum(),
            changes,
            started,
            all.stream().mapToLong(w -> w.ended).reduce(started, Math::max)
        };
    }

    private final class Pairing extends Worker {
        private final Pair pair;
        private long done;
        private long late;
        private long ended;

        Pairing(String name) {
            this.pair = Pair.of(client, request, name);
        }

        @Override
        void turn() throws Exception {
            pair.enter();
            boolean inTime = System.nanoTime() < end;
            if (shared && inTime && holder != this) {
                holder = this;
                changes++;
            }
            pair.leave();
            if (inTime) {
                done++;
                ended = System.nanoTime();
            } else {
                late++;
            }
        }
    }
}
