package org.jrdma.examples.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jrdma.examples.Tcp;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;

/**
 * How the two sides of a ping-pong find each other over TCP: each tells where its queue pairs are.
 *
 * <p>The client speaks first; the server answers when its queue pair is ready, and the client says
 * {@code done} when it has heard that. The C programs take what one read returns for a message:
 * each is written in one piece, and apart from the next.
 */
final class Rendezvous {

    /** An endpoint as {@code lid:queue pair:packet:gid}, and a zero byte. */
    static final int MESSAGE_BYTES = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    /** What stands for a queue pair that there is not. */
    private static final Endpoint NONE = new Endpoint(0, 0, 0, Gid.NONE);

    private static final byte[] DONE = "done\0".getBytes(US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Makes a queue pair ready for the other side. */
    @FunctionalInterface
    interface Preparation {
        void prepareFor(Endpoint peer) throws IOException;
    }

    /** Makes queue pairs ready for those of the other side, as many. */
    @FunctionalInterface
    interface Preparations {
        void prepareFor(List<Endpoint> peers) throws IOException;
    }

    private Rendezvous() {}

    /** Swaps endpoints with the other side, which may send from when this returns. Returns its. */
    static Endpoint meet(PingPongOptions options, Endpoint own, Preparation preparation)
            throws IOException {
        return swap(options, List.of(own), 1, peers -> preparation.prepareFor(peers.getFirst()))
                .getFirst();
    }

    /** The same for several queue pairs. Whatever their number, the C program tells of 256. */
    static void meet(PingPongOptions options, List<Endpoint> own, Preparations preparations)
            throws IOException {
        swap(options, own, PingPongOptions.MAX_QUEUE_PAIRS, preparations);
    }

    private static List<Endpoint> swap(
            PingPongOptions options, List<Endpoint> own, int told, Preparations preparations)
            throws IOException {
        own.forEach(endpoint -> IO.println(describe("local address: ", endpoint)));
        var isServer = options.isServer();
        try (var socket = isServer ? accept(options.port) : Tcp.call(options.host, options.port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) PATIENCE.toMillis());
            if (!isServer) {
                write(socket, toMessages(own, told));
            }
            var peers = fromMessages(read(socket, told * MESSAGE_BYTES), own.size());
            preparations.prepareFor(peers);
            if (isServer) {
                write(socket, toMessages(own, told));
                read(socket, DONE.length);
            } else {
                write(socket, DONE);
            }
            peers.forEach(endpoint -> IO.println(describe("remote address:", endpoint)));
            return peers;
        }
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

    static byte[] toMessages(List<Endpoint> endpoints, int told) {
        var messages = ByteBuffer.allocate(told * MESSAGE_BYTES);
        for (var i = 0; i < told; i++) {
            messages.put(toMessage(i < endpoints.size() ? endpoints.get(i) : NONE));
        }
        return messages.array();
    }

    static List<Endpoint> fromMessages(byte[] messages, int needed) throws IOException {
        var endpoints = new ArrayList<Endpoint>();
        for (var i = 0; i < needed; i++) {
            var from = i * MESSAGE_BYTES;
            var endpoint = fromMessage(Arrays.copyOfRange(messages, from, from + MESSAGE_BYTES));
            if (endpoint.queuePairNumber() == 0) {
                throw new IOException(
                        "The other side has %d queue pairs, and this one %d. Give both the same -q."
                                .formatted(i, needed));
            }
            endpoints.add(endpoint);
        }
        return endpoints;
    }

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
        try (var listener = Tcp.listen(port)) {
            if (port == 0) {
                IO.println("  waiting on port " + listener.getLocalPort());
            }
            return listener.accept();
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
}
