package org.jrdma.cli.perf;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.jrdma.cli.output.PrintableText;

/**
 * The control connection between the two sides of a measurement: lines of text over TCP. The peer
 * is not trusted: the length of a line is limited, and control characters are replaced.
 */
final class ControlChannel implements AutoCloseable {

    /** The maximum time that one side waits for the other side. */
    static final Duration TIMEOUT = Duration.ofMinutes(1);

    static final int MAX_LINE = 1024;

    /** The maximum time to wait for a failure report, which the peer has probably already sent. */
    private static final Duration FAILURE_TIMEOUT = Duration.ofMillis(200);

    private static final String FAILURE = "failed ";

    /** The maximum number of characters of a failure report. Each has up to 3 bytes in UTF-8. */
    private static final int MAX_FAILURE = MAX_LINE / 3 - FAILURE.length();

    private final Socket socket;
    private final InputStream input;

    ControlChannel(Socket socket) throws IOException {
        this.socket = socket;
        this.input = new BufferedInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
    }

    /** Returns the IP address of the peer. */
    String host() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Returns true if the peer is on another machine. */
    boolean isRemote() throws IOException {
        return isRemote(socket.getInetAddress());
    }

    /** Returns true if an address belongs to another machine. */
    static boolean isRemote(InetAddress host) throws IOException {
        return !host.isLoopbackAddress() && NetworkInterface.getByInetAddress(host) == null;
    }

    void send(Object message) throws IOException {
        socket.getOutputStream().write((message + "\n").getBytes(UTF_8));
    }

    /** Reports a failure to the peer, which waits for a message. */
    void sendFailure(Exception failure) throws IOException {
        var reason = ExceptionText.of(failure).replace('\n', ' ');
        send(FAILURE + reason.substring(0, Math.min(reason.length(), MAX_FAILURE)));
    }

    /**
     * Receives the next message.
     *
     * @throws IOException if the peer reports a failure, disconnects or sends no complete message
     *     within {@link #TIMEOUT}
     */
    String receive() throws IOException {
        return receive(TIMEOUT);
    }

    /** Receives the next message, which must be complete before the timeout expires. */
    String receive(Duration timeout) throws IOException {
        try {
            var line = readLine(System.nanoTime() + timeout.toNanos());
            if (line.startsWith(FAILURE)) {
                throw new PeerFailedException(line.substring(FAILURE.length()));
            }
            return line;
        } catch (SocketTimeoutException e) {
            throw new IOException(
                    "The peer sent no message within %d ms.".formatted(timeout.toMillis()), e);
        }
    }

    private String readLine(long end) throws IOException {
        var line = new ByteArrayOutputStream();
        for (var next = read(end); next != '\n'; next = read(end)) {
            if (next < 0) {
                throw new IOException("The peer closed the connection.");
            }
            if (line.size() == MAX_LINE) {
                throw new IOException(
                        "The peer sent a line of more than %d bytes. Is it a jrdma command?"
                                .formatted(MAX_LINE));
            }
            line.write(next);
        }
        return PrintableText.of(line.toString(UTF_8));
    }

    private int read(long end) throws IOException {
        if (input.available() == 0) {
            var millis = (end - System.nanoTime()) / 1_000_000;
            if (millis < 0) {
                throw new SocketTimeoutException();
            }
            socket.setSoTimeout((int) millis + 1); // A timeout of 0 would be infinite.
        }
        return input.read();
    }

    /** Thrown if the peer reports a failure. */
    private static final class PeerFailedException extends IOException {

        private static final long serialVersionUID = 1L;

        PeerFailedException(String reason) {
            super("The peer reports: " + reason);
        }
    }

    /**
     * Throws the failure that the peer reports, because it is the cause of the local failure.
     * Returns normally if the peer reports no failure within a short time.
     */
    void throwPeerFailure(Exception local) throws IOException {
        try {
            receive(FAILURE_TIMEOUT);
        } catch (PeerFailedException remote) {
            remote.addSuppressed(local);
            throw remote;
        } catch (IOException e) {
            local.addSuppressed(e);
        }
    }

    /** Sends a message and receives the next message of the peer. */
    String exchange(Object message) throws IOException {
        send(message);
        return receive();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
