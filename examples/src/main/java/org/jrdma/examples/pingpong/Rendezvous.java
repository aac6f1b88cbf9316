package org.jrdma.examples.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jrdma.verbs.Endpoint;

/**
 * How the two sides of a ping-pong find each other over TCP: each tells where its queue pair is.
 *
 * <p>The client speaks first; the server answers when its queue pair is ready, and the client says
 * {@code done} when it has heard that. The C programs take what one read returns for a message:
 * each is written in one piece, and apart from the next.
 */
final class Rendezvous {

    /** An endpoint as {@code lid:queue pair:packet:gid}, and a zero byte. */
    static final int MESSAGE_BYTES = 4 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    private static final byte[] DONE = "done\0".getBytes(US_ASCII);
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Makes a queue pair ready for the other side. */
    @FunctionalInterface
    interface Preparation {
        void prepareFor(Endpoint peer) throws IOException;
    }

    private Rendezvous() {}

    /** Swaps endpoints with the other side, which may send from when this returns. Returns its. */
    static Endpoint meet(PingPongOptions options, Endpoint own, Preparation preparation)
            throws IOException {
        IO.println(describe("local address: ", own));
        var isServer = options.isServer();
        try (var socket = isServer ? accept(options.port) : call(options.host, options.port)) {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) PATIENCE.toMillis());
            if (!isServer) {
                write(socket, toMessage(own));
            }
            var peer = fromMessage(read(socket, MESSAGE_BYTES));
            preparation.prepareFor(peer);
            if (isServer) {
                write(socket, toMessage(own));
                read(socket, DONE.length);
            } else {
                write(socket, DONE);
            }
            IO.println(describe("remote address:", peer));
            return peer;
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
}
