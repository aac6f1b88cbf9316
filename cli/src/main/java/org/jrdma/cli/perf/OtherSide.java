package org.jrdma.cli.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/** Where the side is that does its part. */
interface OtherSide extends AutoCloseable {

    InetSocketAddress address() throws IOException;

    /**
     * Calls it, for one path.
     *
     * @throws NobodyAnswersException if it is not there
     */
    default ControlChannel call() throws IOException {
        var address = address();
        if (address.isUnresolved()) {
            throw new NobodyAnswersException(address.getHostString());
        }
        var socket = new Socket();
        try {
            socket.connect(address, (int) ControlChannel.PATIENCE.toMillis());
            return new ControlChannel(socket);
        } catch (IOException e) {
            socket.close();
            throw new NobodyAnswersException(address, e);
        }
    }

    @Override
    default void close() throws IOException {}

    /** As a user wrote it, {@code HOST} or {@code HOST:PORT}; IPv6 in brackets. */
    static OtherSide at(String text, int usualPort) {
        var bracket = text.lastIndexOf(']');
        var colon = text.lastIndexOf(':');
        var hasPort = colon > bracket && (bracket > 0 || text.indexOf(':') == colon);
        var host = hasPort ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        try {
            var port = hasPort ? Integer.parseInt(text.substring(colon + 1)) : usualPort;
            var address = new InetSocketAddress(host, port);
            return () -> address;
        } catch (IllegalArgumentException e) { // also of a port that is none
            throw new IllegalArgumentException(
                    "\"%s\" is neither HOST nor HOST:PORT".formatted(text), e);
        }
    }
}
