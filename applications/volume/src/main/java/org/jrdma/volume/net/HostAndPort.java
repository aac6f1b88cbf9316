package org.jrdma.volume.net;

import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.FabricException;

/**
 * The host and the port of a node address.
 *
 * @param host the name or the address of the host; an IPv6 address has no brackets
 */
record HostAndPort(String host, int port) {

    private static final Pattern TEXT = Pattern.compile("\\[?([^\\[\\]]+)]?:([0-9]{1,5})");

    static HostAndPort of(InetSocketAddress address) {
        return new HostAndPort(address.getAddress().getHostAddress(), address.getPort());
    }

    /** Parses a host and a port that a colon separates. */
    static HostAndPort parse(String text) throws FabricException {
        var matcher = TEXT.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 0xFFFF) {
            throw new FabricException(
                    "Cannot parse \"%s\" as a host and a port, such as storage01:7471 or [::1]:7471."
                            .formatted(text));
        }
        return new HostAndPort(matcher.group(1), Integer.parseInt(matcher.group(2)));
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
