package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;
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
            case "nonreentrantfair" -> by("getNonReentrantFairLock", client, name);
            case "multi" -> client.getMultiLock(members(client, name));
            default -> throw new IllegalArgumentException("no such kind of lock: " + kind);
        };
    }

    /** A multi-lock's name has its members', with "kind=" before those that are not plain, between commas. */
    private static RLock[] members(RedissonClient client, String names) {
        return Arrays.stream(names.split(","))
                .map(member -> {
                    int equals = member.indexOf('=');
                    return of(
                            client,
                            member.substring(0, Math.max(equals, 0)),
                            member.substring(equals + 1));
                })
                .toArray(RLock[]::new);
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
