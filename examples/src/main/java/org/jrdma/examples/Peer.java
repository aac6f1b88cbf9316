package org.jrdma.examples;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;

/** The other side of an example, over TCP: it is told something and tells something, by turns. */
public record Peer(Socket socket, BufferedReader lines) implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Waits for the other side; 0 is any port that is free. */
    public static Peer waitOn(int port) throws IOException {
        try (var listener = Tcp.listen(port)) {
            IO.println("waiting for the other side on port " + listener.getLocalPort());
            return of(listener.accept());
        }
    }

    /** Calls the other side. */
    public static Peer at(String host, int port) throws IOException {
        return of(Tcp.call(host, port));
    }

    private static Peer of(Socket socket) throws IOException {
        socket.setSoTimeout((int) PATIENCE.toMillis());
        return new Peer(
                socket,
                new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII)));
    }

    /** Tells the other side something and is told something in return, a line each. */
    public String swap(Object mine) throws IOException {
        try {
            socket.getOutputStream().write((mine + "\n").getBytes(US_ASCII));
            var theirs = lines.readLine();
            if (theirs == null) {
                throw new IOException("The other side has left; look there for the reason.");
            }
            return theirs;
        } catch (SocketTimeoutException e) {
            throw new IOException("The other side is silent; look there for the reason.", e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
