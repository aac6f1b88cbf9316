package org.jrdma.examples.rcpingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.jrdma.verbs.Access.LOCAL_WRITE;
import static org.jrdma.verbs.Access.ON_DEMAND;
import static org.jrdma.verbs.QueuePairOptions.reliable;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Locale;
import org.jrdma.examples.Fabric;
import org.jrdma.verbs.Access;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.ConnectOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Endpoint;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.Mtu;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.QueuePairOptions;

/**
 * Sends a message to and fro between two processes, as {@code ibv_rc_pingpong} of rdma-core does:
 * the options, what is said over TCP and the result are the same, so either side can be the C
 * program.
 *
 * <p>Written for speed: requests are prepared once and posted again and again, and the completion
 * queue is polled; or, with {@code -e}, waited for, which takes longer and leaves the processor to
 * others.
 */
public final class RcPingPong {

    /** What the two sides say over TCP: {@code lid:queue pair:packet:gid}, and a zero byte. */
    static final int MESSAGE_BYTES = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    private static final byte[] DONE = "done\0".getBytes(US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int PAGE_BYTES = 4096;

    // The numbers by which completions are told apart.
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    private final Options options;

    static void main(String... arguments) {
        if (List.of(arguments).contains("--help")) {
            IO.println(Options.USAGE);
            return;
        }
        try {
            new RcPingPong(Options.parse(arguments)).run();
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(e.getMessage()); // those of the SDK say what to do
            System.exit(1);
        }
    }

    private RcPingPong(Options options) {
        this.options = options;
    }

    private void run() throws IOException {
        try (var device = openDevice();
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(access());
                var completions = device.newCompletionQueue(completionQueueOptions());
                var cursor = completions.newCursor(2);
                var queuePair = domain.newQueuePair(queuePairOptions(completions))) {

            // One buffer for all that comes and goes: what is in it matters to -c only.
            var buffer = memory.region(options.size);
            fill(buffer);
            var receive = queuePair.prepareReceive(buffer.slice()).id(RECEIVE);
            var send = queuePair.prepareSend(buffer.slice()).id(SEND);
            send.inline(options.size <= queuePair.inlineBytes());

            IO.println(describe("local address: ", queuePair.endpoint()));
            var peer = connect(queuePair, receive);
            IO.println(describe("remote address:", peer));

            var start = System.nanoTime();
            play(queuePair, cursor, receive, send);
            report(System.nanoTime() - start);
            check(buffer);
        }
    }

    /**
     * Swaps endpoints with the other side and connects. The client speaks first; the server answers
     * when its queue pair is ready, and the client says {@code done} when it has heard that.
     *
     * <p>The C program takes what one read returns for a message: each is written in one piece, and
     * apart from the next.
     */
    private Endpoint connect(PolledQueuePair queuePair, PreparedReceive receive)
            throws IOException {
        try (var socket = isServer() ? accept(options.port) : call(options.host, options.port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) PATIENCE.toMillis());
            if (!isServer()) {
                write(socket, toMessage(queuePair.endpoint()));
            }
            var peer = fromMessage(read(socket, MESSAGE_BYTES));
            queuePair.connect(
                    peer,
                    new ConnectOptions()
                            .pathMtu(options.mtu)
                            .serviceLevel(options.serviceLevel)
                            .maxReads(1)
                            .maxDestinationReads(1));
            postAll(receive);
            if (isServer()) {
                write(socket, toMessage(queuePair.endpoint()));
                read(socket, DONE.length);
            } else {
                write(socket, DONE);
            }
            return peer;
        }
    }

    /** Sends and receives so many messages, the client first, and each side in its turn. */
    private void play(
            PolledQueuePair queuePair,
            CompletionCursor cursor,
            PreparedReceive receive,
            PreparedSend send)
            throws IOException {
        var ahead = isServer() ? 0 : 1;
        var posted = 0;
        var sent = 0;
        var received = 0;
        while (sent < options.iterations || received < options.iterations) {
            if (posted < options.iterations && posted == sent && posted < received + ahead) {
                send.tryPost();
                posted++;
            }
            await(cursor);
            while (cursor.next()) {
                if (!cursor.isSuccess()) {
                    throw new IOException(
                            "A %s failed: %s, that is, %s."
                                    .formatted(
                                            cursor.id() == SEND ? "send" : "receive",
                                            cursor.status(),
                                            cursor.status().meaning()));
                }
                if (cursor.id() == SEND) {
                    sent++;
                } else {
                    received++;
                }
            }
            if (queuePair.freeReceives() >= options.receives - 1) {
                postAll(receive);
            }
        }
    }

    /** The same receive, as often as there is room for. */
    private static void postAll(PreparedReceive receive) throws IOException {
        while (receive.tryPost()) {
            // again
        }
    }

    private void await(CompletionCursor cursor) throws IOException {
        if (options.events) {
            if (cursor.await(PATIENCE) > 0) {
                return;
            }
        } else {
            var deadline = System.nanoTime() + PATIENCE.toNanos();
            do {
                if (cursor.poll() > 0) {
                    return;
                }
            } while (System.nanoTime() - deadline < 0);
        }
        throw new IOException(
                "Nothing has come for %d s. Has the other side ended?"
                        .formatted(PATIENCE.toSeconds()));
    }

    private void report(long nanos) {
        var bytes = 2L * options.size * options.iterations;
        var micros = nanos / 1e3;
        IO.println(
                String.format(
                        Locale.ROOT,
                        "%d bytes in %.2f seconds = %.2f Mbit/sec%n%d iters in %.2f seconds = %.2f usec/iter",
                        bytes,
                        micros / 1e6,
                        bytes * 8 / micros,
                        options.iterations,
                        micros / 1e6,
                        micros / options.iterations));
    }

    /** As the C program: with -c, the client puts a 0 at the start of each page. */
    private void fill(MemoryRegion buffer) {
        buffer.segment().fill((byte) 0x7b);
        if (options.check && !isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                buffer.segment().set(ValueLayout.JAVA_BYTE, offset, (byte) 0);
            }
        }
    }

    /** And the server looks for it. */
    private void check(MemoryRegion buffer) throws IOException {
        if (options.check && isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                if (buffer.segment().get(ValueLayout.JAVA_BYTE, offset) != 0) {
                    throw new IOException("invalid data in page " + offset / PAGE_BYTES);
                }
            }
        }
    }

    private boolean isServer() {
        return options.host.isEmpty();
    }

    private Device openDevice() throws IOException {
        var verbs = Fabric.choose(options.fabric);
        return options.device.isEmpty() ? verbs.openFirst() : verbs.open(options.device);
    }

    private Access[] access() {
        return options.onDemand
                ? new Access[] {LOCAL_WRITE, ON_DEMAND}
                : new Access[] {LOCAL_WRITE};
    }

    private CompletionQueueOptions completionQueueOptions() {
        var completions = CompletionQueueOptions.capacity(options.receives + 1);
        return options.events ? completions.waitable() : completions;
    }

    private QueuePairOptions<PolledQueuePair> queuePairOptions(CompletionQueue completions) {
        var queues =
                reliable(completions).sends(1).receives(options.receives).port(options.devicePort);
        return options.gidIndex < 0 ? queues : queues.gidIndex(options.gidIndex);
    }

    private static String describe(String whose, Endpoint endpoint) {
        return "  %s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s"
                .formatted(
                        whose,
                        endpoint.lid(),
                        endpoint.queuePairNumber(),
                        endpoint.packetSequence(),
                        endpoint.gid());
    }

    /* What goes over TCP. */

    static byte[] toMessage(Endpoint endpoint) {
        return (endpoint + "\0").getBytes(US_ASCII);
    }

    static Endpoint fromMessage(byte[] message) throws IOException {
        var text = new String(message, 0, MESSAGE_BYTES - 1, US_ASCII);
        try {
            return Endpoint.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IOException("The other side is no ping-pong: it says \"" + text + "\"", e);
        }
    }

    private static Socket accept(int port) throws IOException {
        try (var listener = new ServerSocket(port)) {
            return listener.accept();
        } catch (IOException e) {
            throw new IOException("Cannot listen on port " + port + ": " + e.getMessage(), e);
        }
    }

    private static Socket call(String host, int port) throws IOException {
        var socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(host, port), (int) PATIENCE.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw new IOException(
                    "Nobody answers on port %d of %s: %s. The side without a host must be started first."
                            .formatted(port, host, e.getMessage()),
                    e);
        }
    }

    private static void write(Socket socket, byte[] message) throws IOException {
        socket.getOutputStream().write(message);
    }

    private static byte[] read(Socket socket, int length) throws IOException {
        var message = new byte[0];
        try {
            message = socket.getInputStream().readNBytes(length);
        } catch (SocketTimeoutException e) {
            throw new IOException("The other side is silent; look there for the reason.", e);
        }
        if (message.length < length) {
            throw new IOException("The other side has left; look there for the reason.");
        }
        return message;
    }

    /** The command line, in the words of the C program. */
    static final class Options {

        static final String USAGE =
                """
                usage: rc-pingpong [options]          waits for the other side
                       rc-pingpong [options] HOST     connects to HOST and begins

                  -p, --port PORT         the TCP port (18515)
                  -d, --ib-dev DEVICE     the RDMA device (the first there is)
                  -i, --ib-port PORT      its port (1)
                  -s, --size BYTES        how long a message is (4096)
                  -m, --mtu BYTES         how much of it goes into a packet (1024)
                  -r, --rx-depth COUNT    how many receives to post ahead (500)
                  -n, --iters COUNT       how many messages each side sends (1000)
                  -l, --sl LEVEL          the service level (0)
                  -e, --events            wait for completions instead of polling
                  -g, --gid-idx INDEX     the row of the GID table to send from (on RoCE the best there is)
                  -o, --odp               do not lock the memory, but bring it in on demand
                  -c, --chk               check what arrives at the server
                  -f, --fabric FABRIC     "system", or "software" (that where the machine has no RDMA device)

                The C program has no -f. Of its options, -O, -P, -t, -j, -N and -U are missing.\
                """;

        int port = 18515;
        String device = "";
        int devicePort = 1;
        int size = 4096;
        Mtu mtu = Mtu.BYTES_1024;
        int receives = 500;
        int iterations = 1000;
        int serviceLevel;
        boolean events;
        int gidIndex = -1;
        boolean onDemand;
        boolean check;
        String fabric = "";
        String host = "";

        static Options parse(String... arguments) {
            var options = new Options();
            var rest = new ArrayDeque<>(List.of(arguments));
            while (!rest.isEmpty()) {
                options.take(rest);
            }
            return options;
        }

        private void take(ArrayDeque<String> rest) {
            splitFirst(rest);
            var argument = rest.pop();
            switch (argument) {
                case "-p", "--port" -> port = number(argument, rest, 0, 65_535);
                case "-d", "--ib-dev" -> device = value(argument, rest);
                case "-i", "--ib-port" -> devicePort = number(argument, rest, 1, 255);
                case "-s", "--size" -> size = number(argument, rest, 1, Integer.MAX_VALUE);
                case "-m", "--mtu" -> mtu = Mtu.ofBytes(number(argument, rest, 256, 4096));
                case "-r", "--rx-depth" -> receives = number(argument, rest, 1, 1 << 20);
                case "-n", "--iters" -> iterations = number(argument, rest, 1, Integer.MAX_VALUE);
                case "-l", "--sl" -> serviceLevel = number(argument, rest, 0, 15);
                case "-e", "--events" -> events = true;
                case "-g", "--gid-idx" -> gidIndex = number(argument, rest, 0, 65_535);
                case "-o", "--odp" -> onDemand = true;
                case "-c", "--chk" -> check = true;
                case "-f", "--fabric" -> fabric = value(argument, rest);
                default -> {
                    if (argument.startsWith("-") || !host.isEmpty()) {
                        throw refusal("\"%s\" is not understood".formatted(argument));
                    }
                    host = argument;
                }
            }
        }

        /** Makes {@code --gid-idx=1}, {@code -g1} and {@code -eg} two arguments. */
        private static void splitFirst(ArrayDeque<String> rest) {
            var argument = rest.getFirst();
            var equals = argument.indexOf('=');
            if (argument.startsWith("--") && equals > 0) {
                rest.pop();
                rest.push(argument.substring(equals + 1));
                rest.push(argument.substring(0, equals));
            } else if (argument.matches("-[^-].+")) {
                var isFlag = "eoc".indexOf(argument.charAt(1)) >= 0;
                rest.pop();
                rest.push((isFlag ? "-" : "") + argument.substring(2));
                rest.push(argument.substring(0, 2));
            }
        }

        private static String value(String option, ArrayDeque<String> rest) {
            if (rest.isEmpty()) {
                throw refusal(option + " needs a value");
            }
            return rest.pop();
        }

        private static int number(String option, ArrayDeque<String> rest, int least, int most) {
            var value = value(option, rest);
            try {
                var number = Integer.decode(value);
                if (number >= least && number <= most) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // refused below
            }
            throw refusal(
                    "%s takes a number from %d to %d, not \"%s\""
                            .formatted(option, least, most, value));
        }

        private static IllegalArgumentException refusal(String reason) {
            return new IllegalArgumentException("rc-pingpong: " + reason + "\n\n" + USAGE);
        }
    }
}
