package rlock.peer;

import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Writes whole lines, each flushed at once. Safe for concurrent use. */
final class Answers {
    /** Guarded by this. */
    private final PrintStream out;

    Answers(PrintStream out) {
        this.out = out;
    }

    void ready(String version, String clientId, long pid) {
        write("ready", version, clientId, pid);
    }

    /** @param at {@link System#nanoTime} taken when the operation returned. */
    void success(String id, long at, Object... values) {
        Object[] fields = new Object[values.length + 1];
        fields[0] = at;
        System.arraycopy(values, 0, fields, 1, values.length);
        write(id + " ok", fields);
    }

    void failure(String id, long at, Throwable cause) {
        write(id + " err", at, cause.getClass().getName(), String.valueOf(cause.getMessage()));
    }

    private void write(String head, Object... fields) {
        StringBuilder line = new StringBuilder(head);
        for (Object field : fields) {
            line.append(' ').append(URLEncoder.encode(field.toString(), StandardCharsets.UTF_8));
        }
        byte[] bytes = line.append('\n').toString().getBytes(StandardCharsets.UTF_8);
        synchronized (this) {
            out.write(bytes, 0, bytes.length);
            out.flush();
        }
    }
}
