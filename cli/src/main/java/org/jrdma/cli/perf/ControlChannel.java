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

/**
 * How the two sides of a measurement speak to each other: lines of text over plain TCP. The other
 * side may be anybody: what it says is short, and has no characters that a terminal obeys.
 */
final class ControlChannel implements AutoCloseable {

    /** The longest time that one side lets the other wait. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    static final int LONGEST_LINE = 1024;

    /** For what should have been said by now. */
    private static final Duration MOMENT = Duration.ofMillis(200);

    private static final String FAILURE = "failed ";
    private static final int LONGEST_FAILURE = LONGEST_LINE / 3 - FAILURE.length(); // 3 in UTF-8

    private final Socket socket;
    private final InputStream input;

    ControlChannel(Socket socket) throws IOException {
        this.socket = socket;
        this.input = new BufferedInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
    }

    /** The other side's host, as this one reaches it. */
    String host() {
        return socket.getInetAddress().getHostAddress();
    }

    /** Whether the other side is on another machine. */
    boolean leadsAway() throws IOException {
        return leadsAway(socket.getInetAddress());
    }

    /** Whether an address is another machine's. */
    static boolean leadsAway(InetAddress host) throws IOException {
        return !host.isLoopbackAddress() && NetworkInterface.getByInetAddress(host) == null;
    }

    void say(Object words) throws IOException {
        socket.getOutputStream().write((words + "\n").getBytes(UTF_8));
    }

    /** Tells the other side why there is nothing to hear. */
    void sayFailure(Exception failure) throws IOException {
        var reason = Reason.of(failure).replace('\n', ' ');
        say(FAILURE + reason.substring(0, Math.min(reason.length(), LONGEST_FAILURE)));
    }

    /** What the other side says next. */
    String hear() throws IOException {
        return hear(PATIENCE);
    }

    private String hear(Duration patience) throws IOException {
        try {
            socket.setSoTimeout((int) patience.toMillis());
            var line = readLine();
            if (line.startsWith(FAILURE)) {
                throw new OtherSideFailedException(line.substring(FAILURE.length()));
            }
            return line;
        } catch (SocketTimeoutException e) {
            throw new IOException("The other side is silent.", e);
        }
    }

    private String readLine() throws IOException {
        var line = new ByteArrayOutputStream();
        for (var next = input.read(); next != '\n'; next = input.read()) {
            if (next < 0) {
                throw new IOException("The other side has left.");
            }
            if (line.size() == LONGEST_LINE) {
                throw new IOException("The other side says too much: is it a jrdma?");
            }
            line.write(next);
        }
        return line.toString(UTF_8).replaceAll("\\p{Cc}", "?");
    }

    /** What the other side says of its own failure. */
    private static final class OtherSideFailedException extends IOException {

        private static final long serialVersionUID = 1L;

        OtherSideFailedException(String reason) {
            super("The other side says: " + reason);
        }
    }

    /** If the other side says that it has failed, that is the reason for what has failed here. */
    void throwItsFailure(Exception here) throws IOException {
        try {
            hear(MOMENT);
        } catch (OtherSideFailedException there) {
            there.addSuppressed(here);
            throw there;
        } catch (IOException e) {
            here.addSuppressed(e);
        }
    }

    /** Says something and hears what the other side says to the same end. */
    String swap(Object mine) throws IOException {
        say(mine);
        return hear();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
