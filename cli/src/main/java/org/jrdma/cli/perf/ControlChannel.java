package org.jrdma.cli.perf;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** How the two sides of a measurement speak to each other: lines of text over plain TCP. */
final class ControlChannel implements AutoCloseable {

    /** The longest time that one side lets the other wait. */
    static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String FAILURE = "failed ";

    private final Socket socket;
    private final BufferedReader lines;

    ControlChannel(Socket socket) throws IOException {
        this.socket = socket;
        this.lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        socket.setTcpNoDelay(true);
    }

    /** The other side's host, as this one reaches it. */
    String host() {
        return socket.getInetAddress().getHostAddress();
    }

    void say(Object words) throws IOException {
        socket.getOutputStream().write((words + "\n").getBytes(UTF_8));
    }

    /** Tells the other side why there is nothing to hear. */
    void sayFailure(Exception failure) throws IOException {
        say(FAILURE + String.valueOf(failure.getMessage()).replace('\n', ' '));
    }

    /** What the other side says next. */
    String hear() throws IOException {
        return hear(PATIENCE);
    }

    /** The same from somebody who need not speak soon. */
    String hearSometime() throws IOException {
        return hear(Duration.ZERO);
    }

    private String hear(Duration patience) throws IOException {
        try {
            socket.setSoTimeout((int) patience.toMillis());
            var line = lines.readLine();
            if (line == null) {
                throw new IOException("The other side has left.");
            }
            if (line.startsWith(FAILURE)) {
                throw new IOException("The other side says: " + line.substring(FAILURE.length()));
            }
            return line;
        } catch (SocketTimeoutException e) {
            throw new IOException("The other side is silent.", e);
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
