package org.jrdma.benchmarks;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Measures the same bandwidth as {@code ib_write_bw} with its default options: one process
 * repeatedly writes 64 KiB to the memory of another process, with up to 128 outstanding writes.
 *
 * <p>Arguments: the device, the number of writes, and for the client the host of the server.
 */
public final class WriteBandwidth {

    private static final int PORT = 18_520;
    private static final int BYTES = 65_536;
    private static final int MAX_OUTSTANDING = 128;

    private WriteBandwidth() {}

    /** Runs one side. The client prints the bandwidth in MiB/s, as ib_write_bw does. */
    public static void main(String[] arguments) throws IOException {
        var count = Integer.parseInt(arguments[1]);
        var isClient = arguments.length > 2;
        try (var socket = isClient ? new Socket(arguments[2], PORT) : accept();
                var device = Verbs.system().open(arguments[0]);
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE);
                var completions = device.newCompletionQueue(2 * MAX_OUTSTANDING);
                var cursor = completions.newCursor(16);
                var queuePair =
                        domain.newQueuePair(
                                reliable(completions).sends(MAX_OUTSTANDING).receives(1))) {
            var region = memory.region(BYTES);
            var input =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII));
            send(socket, queuePair.endpoint() + "\n" + region.remote() + "\n");
            queuePair.connect(Endpoint.parse(input.readLine()));
            var remote = RemoteMemory.parse(input.readLine());
            send(socket, "ready\n");
            input.readLine();
            if (isClient) {
                var write = queuePair.prepareWrite(region.slice(), remote);
                var nanos = write(write, cursor, count);
                System.out.printf(
                        Locale.ROOT,
                        "%.2f MiB/s%n",
                        (double) count * BYTES / (1 << 20) / (nanos / 1e9));
                send(socket, "done\n");
            } else {
                input.readLine(); // waits until the client has finished
            }
        }
    }

    private static long write(PreparedWrite write, CompletionCursor cursor, int count)
            throws IOException {
        var start = System.nanoTime();
        for (int posted = 0, completed = 0; completed < count; ) {
            while (posted < count && write.tryPost()) {
                posted++;
            }
            cursor.poll();
            while (cursor.next()) {
                if (!cursor.isSuccess()) {
                    throw new IOException("A write failed: " + cursor.completion());
                }
                completed++;
            }
        }
        return System.nanoTime() - start;
    }

    private static Socket accept() throws IOException {
        try (var listener = new ServerSocket(PORT)) {
            return listener.accept();
        }
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(US_ASCII));
    }
}
