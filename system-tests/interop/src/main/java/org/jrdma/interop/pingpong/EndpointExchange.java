package org.jrdma.interop.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jrdma.examples.AbstractExample;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;

/**
 * Exchanges the endpoints of the queue pairs of a ping-pong over TCP, out of band.
 *
 * <p>The client sends first. The server answers when its queue pairs are ready, and the client
 * confirms the answer with {@code done}. The C programs treat the result of one read as a complete
 * message. Therefore each message is written by one call, and only after the answer to the previous
 * message has arrived.
 */
final class EndpointExchange {

    /** The maximum time that a side waits for the next step of the other side. */
    static final Duration TIMEOUT = Duration.ofSeconds(30);

    /**
     * The number of endpoints that {@code ibv_srq_pingpong} always sends, even if it uses fewer
     * queue pairs.
     */
    static final int MAX_QUEUE_PAIRS = 256;

    /**
     * The size of an endpoint in a message: {@code lid:queue pair:packet sequence:gid} and a zero
     * byte.
     */
    static final int MESSAGE_BYTES = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    /** The endpoint that a message contains for an unused queue pair. */
    private static final Endpoint NONE = new Endpoint(0, 0, 0, Gid.NONE);

    private static final byte[] DONE = "done\0".getBytes(US_ASCII);

    /** Prepares a queue pair to communicate with the other side. */
    @FunctionalInterface
    interface Preparation<P> {
        void prepareFor(P peer) throws IOException;
    }

    private EndpointExchange() {}

    /**
     * Exchanges endpoints with the other side. The other side sends messages only after {@code
     * preparation} has prepared the queue pair of this side.
     *
     * @return the endpoint of the other side
     */
    static Endpoint exchange(
            PingPongProgram options, Endpoint own, Preparation<Endpoint> preparation)
            throws IOException {
        return exchange(options, List.of(own), 1, peers -> preparation.prepareFor(peers.getFirst()))
                .getFirst();
    }

    /** Exchanges the endpoints of several queue pairs with the other side. */
    static void exchangeAll(
            PingPongProgram options, List<Endpoint> own, Preparation<List<Endpoint>> preparation)
            throws IOException {
        exchange(options, own, MAX_QUEUE_PAIRS, preparation);
    }

    private static List<Endpoint> exchange(
            PingPongProgram options,
            List<Endpoint> own,
            int count,
            Preparation<List<Endpoint>> preparation)
            throws IOException {
        own.forEach(endpoint -> IO.println(describe("local address: ", endpoint)));
        var isServer = options.isServer();
        try (var socket =
                isServer
                        ? accept(options.port)
                        : AbstractExample.connect(options.host, options.port)) {
            configure(socket);
            if (!isServer) {
                socket.getOutputStream().write(toMessages(own, count));
            }
            var peers = fromMessages(read(socket, count * MESSAGE_BYTES), own.size());
            preparation.prepareFor(peers);
            if (isServer) {
                socket.getOutputStream().write(toMessages(own, count));
                read(socket, DONE.length);
            } else {
                socket.getOutputStream().write(DONE);
            }
            peers.forEach(endpoint -> IO.println(describe("remote address:", endpoint)));
            return peers;
        }
    }

    private static String describe(String label, Endpoint endpoint) {
        return "  %s LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s"
                .formatted(
                        label,
                        endpoint.lid(),
                        endpoint.queuePairNumber(),
                        endpoint.packetSequence(),
                        endpoint.gid());
    }

    static byte[] toMessages(List<Endpoint> endpoints, int count) {
        var messages = ByteBuffer.allocate(count * MESSAGE_BYTES);
        for (var i = 0; i < count; i++) {
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
                        "The other side has %d queue pairs, but this side has %d. Start both sides with the same -q."
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
            throw new IOException(
                    "The other side is not a ping-pong program: it sent \"" + text + "\".", e);
        }
    }

    private static Socket accept(int port) throws IOException {
        try (var listener = AbstractExample.listen(port)) {
            if (port == 0) {
                IO.println("  waiting on port " + listener.getLocalPort());
            }
            return listener.accept();
        }
    }

    static Socket configure(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) TIMEOUT.toMillis());
        return socket;
    }

    /** Reads exactly {@code length} bytes. */
    static byte[] read(Socket socket, int length) throws IOException {
        try {
            var message = socket.getInputStream().readNBytes(length);
            if (message.length == length) {
                return message;
            }
        } catch (SocketTimeoutException e) {
            throw new IOException(
                    "The other side does not respond. Its output shows the reason.", e);
        }
        throw new IOException("The other side has ended. Its output shows the reason.");
    }
}
