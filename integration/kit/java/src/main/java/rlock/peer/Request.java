package rlock.peer;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** One line from the driver: an id of its choice, a command, whose locks are of a kind, and arguments. */
record Request(String id, String kind, String command, List<String> arguments) {

    /** Fields are parted by single spaces, so that an empty argument is two spaces in a row. */
    static Request parse(String line) {
        String[] fields = line.split(" ", -1);
        if (fields.length < 2) {
            throw new IllegalArgumentException("a request has an id and a command: " + line);
        }
        List<String> arguments = new ArrayList<>();
        for (int i = 2; i < fields.length; i++) {
            arguments.add(URLDecoder.decode(fields[i], StandardCharsets.UTF_8));
        }
        int colon = fields[1].indexOf(':');
        String kind = fields[1].substring(0, Math.max(colon, 0));
        return new Request(fields[0], kind, fields[1].substring(colon + 1), arguments);
    }

    /** The lock of a name, of the kind that the command is for. */
    RLock lock(RedissonClient client, String name) {
        return Locks.of(client, kind, name);
    }

    IllegalArgumentException unknown() {
        return new IllegalArgumentException("no such command: " + command);
    }

    String text(int index) {
        if (index >= arguments.size()) {
            throw new IllegalArgumentException(
                    command + " lacks argument " + (index + 1) + " of its arguments " + arguments);
        }
        return arguments.get(index);
    }

    long number(int index) {
        return Long.parseLong(text(index));
    }

    int count(int index) {
        return Math.toIntExact(number(index));
    }
}
