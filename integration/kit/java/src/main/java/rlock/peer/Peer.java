package rlock.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;

/**
 * A Redisson client driven by lines: one request a line on standard input, one answer a line on
 * standard output. README.md tells the protocol.
 */
public final class Peer {
    /** How long an orderly end may take before the process leaves without it. */
    private static final long GRACE_MILLIS = 8_000;

    private Peer() {}

    public static void main(String[] args) throws IOException {
        PrintStream answersOut = System.out;
        // Whatever a library prints must not be taken for an answer.
        System.setOut(System.err);
        Answers answers = new Answers(answersOut);

        RedissonClient client;
        try {
            client = Redisson.create(Settings.parse(args));
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
            return;
        }
        answers.ready(Version.ofRedisson(), client.getId(), ProcessHandle.current().pid());

        Commands commands = new Commands(client, answers);
        BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Request quit = null;
        for (String line; quit == null && (line = in.readLine()) != null; ) {
            Request request;
            try {
                request = Request.parse(line);
            } catch (IllegalArgumentException e) {
                answers.failure(line.split(" ", 2)[0], System.nanoTime(), e);
                continue;
            }
            if (request.command().equals("quit")) {
                quit = request;
            } else {
                commands.dispatch(request);
            }
        }

        leaveAnyway();
        client.shutdown();
        if (quit != null) {
            answers.success(quit.id(), System.nanoTime());
        }
        System.exit(0);
    }

    /** A shutdown that hangs on a dead server must not leave a process without a parent behind. */
    private static void leaveAnyway() {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                Thread.sleep(GRACE_MILLIS);
                            } catch (InterruptedException e) {
                                // Leaving early is what an interrupt would ask for.
                            }
                            Runtime.getRuntime().halt(2);
                        },
                        "grace");
        thread.setDaemon(true);
        thread.start();
    }
}
