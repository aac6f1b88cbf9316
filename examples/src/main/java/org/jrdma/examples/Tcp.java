package org.jrdma.examples;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;

/** How two sides of an example find each other, with failures that say what to do. */
public final class Tcp {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Tcp() {}

    /** Listens for the other side; 0 is any port that is free. */
    public static ServerSocket listen(int port) throws IOException {
        try {
            return new ServerSocket(port);
        } catch (BindException e) {
            throw new IOException(
                    "Cannot listen on port %d: %s. Another can be chosen with -p."
                            .formatted(port, e.getMessage()),
                    e);
        }
    }

    /** Calls the other side. */
    public static Socket call(String host, int port) throws IOException {
        var address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new IOException("There is no host named " + host + ".");
        }
        var socket = new Socket();
        try {
            socket.connect(address, (int) PATIENCE.toMillis());
            return socket;
        } catch (IOException e) {
            socket.close();
            throw new IOException(
                    "Nobody answers on port %d of %s: %s. The side without a host must be started first."
                            .formatted(port, host, e.getMessage()),
                    e);
        }
    }
}
