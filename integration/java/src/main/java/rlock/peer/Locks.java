package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Redisson's lock objects by their kind. */
final class Locks {
    private Locks() {}

    /** The empty kind is the plain lock. */
    static RLock of(RedissonClient client, String kind, String name) {
        return switch (kind) {
            case "" -> client.getLock(name);
            case "fair" -> client.getFairLock(name);
            case "spin" -> by("getSpinLock", client, name);
            case "read" -> client.getReadWriteLock(name).readLock();
            case "write" -> client.getReadWriteLock(name).writeLock();
            case "fenced" -> by("getFencedLock", client, name);
            case "nonreentrant" -> by("getNonReentrantLock", client, name);
            default -> throw new IllegalArgumentException("no such kind of lock: " + kind);
        };
    }

    /** By reflection, since old versions lack the method and the peer is built against them too. */
    private static RLock by(String getter, RedissonClient client, String name) {
        try {
            return (RLock)
                    RedissonClient.class.getMethod(getter, String.class).invoke(client, name);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("this Redisson has no " + getter, e);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new IllegalStateException(getter, e);
        }
    }
}
