package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** The other side of a measurement, to which this process can connect. */
interface Peer extends AutoCloseable {

    InetSocketAddress address() throws IOException;

    /**
     * Connects to the peer to measure one path.
     *
     * @throws PeerUnreachableException if the peer cannot be reached
     */
    default ControlChannel connect() throws IOException {
        var address = address();
        if (address.isUnresolved()) {
            throw new PeerUnreachableException(address.getHostString());
        }
        var socket = new Socket();
        try {
            socket.connect(address, (int) ControlChannel.TIMEOUT.toMillis());
            return new ControlChannel(socket);
        } catch (IOException e) {
            socket.close();
            throw new PeerUnreachableException(address, e);
        }
    }

    @Override
    default void close() throws IOException {}

    /** Parses {@code HOST} or {@code HOST:PORT}. An IPv6 address with a port is in brackets. */
    static Peer parse(String text, int defaultPort) {
        var bracket = text.lastIndexOf(']');
        var colon = text.lastIndexOf(':');
        var hasPort = colon > bracket && (bracket > 0 || text.indexOf(':') == colon);
        var host = hasPort ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        try {
            var port = hasPort ? Integer.parseInt(text.substring(colon + 1)) : defaultPort;
            var address = new InetSocketAddress(host, port);
            return () -> address;
        } catch (IllegalArgumentException e) { // The port is not a number or is out of range.
            throw new IllegalArgumentException(
                    "\"%s\" is neither HOST nor HOST:PORT.".formatted(text), e);
        }
    }
}
