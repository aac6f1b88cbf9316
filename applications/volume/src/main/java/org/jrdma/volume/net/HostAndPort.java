package org.jrdma.volume.net;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.FabricException;

/**
 * The host and the port of a node address.
 *
 * @param host the name or the address of the host; an IPv6 address has no brackets
 */
record HostAndPort(String host, int port) {

    /** An IPv6 address has brackets, because its colons could be those before a port. */
    private static final Pattern TEXT =
            Pattern.compile("(?:\\[([^\\[\\]\\s]+)]|([^:\\[\\]\\s]+))(?::([0-9]{1,5}))?");

    private static final int MAX_PORT = 0xFFFF;

    static HostAndPort of(InetSocketAddress address) {
        return new HostAndPort(address.getAddress().getHostAddress(), address.getPort());
    }

    /** Parses a host and a port that a colon separates. */
    static HostAndPort parse(String text) throws FabricException {
        return parse(text, -1)
                .orElseThrow(() ->
                        new FabricException(
                                "Cannot parse \"%s\" as a host and a port, such as storage01:7471 or [::1]:7471."
                                        .formatted(text)));
    }

    /**
     * Parses a host and a port that a colon separates.
     *
     * @param defaultPort the port of a text without a port; negative if the text must have one
     * @return empty if the text is invalid
     */
    static Optional<HostAndPort> parse(String text, int defaultPort) {
        var form = TEXT.matcher(text);
        if (!form.matches()) {
            return Optional.empty();
        }
        var host = form.group(1) == null ? form.group(2) : form.group(1);
        var port = form.group(3) == null ? defaultPort : Integer.parseInt(form.group(3));
        return port < 0 || port > MAX_PORT
                ? Optional.empty()
                : Optional.of(new HostAndPort(host, port));
    }

    InetSocketAddress resolve() throws UnknownHostException {
        var address = BlockingCalls.call(() -> new InetSocketAddress(host, port));
        if (address.isUnresolved()) {
            throw new UnknownHostException(host);
        }
        return address;
    }

    /** Returns the address of a node that listens here. */
    String toString(TransportKind transport) {
        return "%s:%s:%d".formatted(transport, host.contains(":") ? "[" + host + "]" : host, port);
    }
}
