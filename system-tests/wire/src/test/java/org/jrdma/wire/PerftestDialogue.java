package org.jrdma.wire;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * The protocol over TCP by which the two sides of a perftest program exchange their parameters. In
 * each exchange, the client sends first.
 */
final class PerftestDialogue implements AutoCloseable {

    static final int PORT = 18515;

    /**
     * The version that this side announces. perftest accepts versions since 5.70. Since 6.28,
     * another structure follows the version.
     */
    private static final String VERSION = "6.06";

    private static final int VERSION_BYTES = 16;
    private static final int PAGE_BYTES = 4096;
    private static final int CACHE_LINE_BYTES = 64;
    private static final int TIMEOUT_MILLIS = 60_000;

    /** The queue pair and memory of one side. */
    record Keys(int reads, Endpoint endpoint, RemoteMemory memory) {

        byte[] toMessage() {
            var gid = endpoint.gid().toHexDigits();
            var octets =
                    IntStream.range(0, Gid.BYTES)
                            .mapToObj(i -> gid.substring(2 * i, 2 * i + 2))
                            .collect(Collectors.joining(":"));
            var text =
                    "%04x:%04x:%06x:%06x:%08x:%016x:%s:%08x:\0"
                            .formatted(
                                    endpoint.lid(),
                                    reads,
                                    endpoint.queuePairNumber(),
                                    endpoint.packetSequence(),
                                    memory.key(),
                                    memory.address(),
                                    octets,
                                    0);
            return text.getBytes(US_ASCII);
        }

        /** Parses a message of the peer, which does not contain the length of the memory. */
        static Keys from(byte[] message, long length) {
            var parts = new String(message, US_ASCII).split(":");
            var gid = Gid.parse(String.join("", Arrays.asList(parts).subList(6, 6 + Gid.BYTES)));
            return new Keys(
                    Integer.parseInt(parts[1], 16),
                    new Endpoint(
                            Integer.parseInt(parts[0], 16),
                            Integer.parseInt(parts[2], 16),
                            Integer.parseInt(parts[3], 16),
                            gid),
                    new RemoteMemory(
                            Long.parseUnsignedLong(parts[5], 16),
                            Integer.parseUnsignedInt(parts[4], 16),
                            length));
        }
    }

    private final Socket socket;
    private final boolean isClient;

    private PerftestDialogue(Socket socket, boolean isClient) throws IOException {
        this.socket = socket;
        this.isClient = isClient;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MILLIS);
    }

    static PerftestDialogue withServer(String host) throws IOException {
        return new PerftestDialogue(new Socket(host, PORT), true);
    }

    static PerftestDialogue withClient(ServerSocket listener) throws IOException {
        listener.setSoTimeout(TIMEOUT_MILLIS);
        return new PerftestDialogue(listener.accept(), false);
    }

    /** Starts the protocol, and returns the path MTU that both sides support. */
    Mtu begin(Mtu mtu) throws IOException {
        exchange(Arrays.copyOf(VERSION.getBytes(US_ASCII), VERSION_BYTES));
        exchange(ByteBuffer.allocate(Integer.BYTES).putInt(PAGE_BYTES).array());
        exchange(ByteBuffer.allocate(Integer.BYTES).putInt(CACHE_LINE_BYTES).array());
        // In C, an MTU of 256 bytes has the code 1, one of 512 bytes the code 2, and so on.
        var code = Integer.numberOfTrailingZeros(mtu.bytes() / 128);
        var reply = exchange(new byte[] {(byte) ('0' + code), 0});
        return Mtu.ofBytes(128 << Math.min(code, reply[0] - '0'));
    }

    Keys exchangeKeys(Keys local) throws IOException {
        return Keys.from(exchange(local.toMessage()), Long.MAX_VALUE);
    }

    /** Synchronizes both sides by exchanging their keys again. */
    void synchronize(Keys local) throws IOException {
        exchangeKeys(local);
    }

    /** Exchanges the results of a bandwidth test, which are five values. */
    void report(long bytes, long iterations) throws IOException {
        exchange(ByteBuffer.allocate(Long.BYTES).putLong(bytes).array());
        exchange(ByteBuffer.allocate(Long.BYTES).putLong(iterations).array());
        for (var value :
                // Peak bandwidth, average bandwidth and message rate. The C program prints its own
                // values.
                new double[] {1, 1, 1}) {
            exchange(ByteBuffer.allocate(Double.BYTES).putDouble(value).array());
        }
    }

    /** Ends the protocol of a bandwidth test. Latency tests do not have this step. */
    void end(Keys local) throws IOException {
        synchronize(local);
        socket.getOutputStream().write("done\0".getBytes(US_ASCII));
    }

    private byte[] exchange(byte[] local) throws IOException {
        if (isClient) {
            socket.getOutputStream().write(local);
        }
        var received = socket.getInputStream().readNBytes(local.length);
        if (received.length < local.length) {
            throw new IOException("The C program has closed the connection.");
        }
        if (!isClient) {
            socket.getOutputStream().write(local);
        }
        return received;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
