package org.jrdma.ffi;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Formats socket addresses for messages, without the slash of {@link InetSocketAddress}. */
public final class AddressText {

    private static final Pattern ZEROS = Pattern.compile("(^|:)0(:0)+(:|$)");

    private AddressText() {}

    /**
     * Formats an address. The text of an internet address is the host and the port, such as {@code
     * 10.0.0.1:7471}, {@code storage01:7471} or {@code [fe80::1%eth0]:7471}; the host is the name
     * that the program specified, or otherwise the IP address. The text of null is {@code an
     * unknown address}.
     */
    public static String of(@Nullable SocketAddress address) {
        if (!(address instanceof InetSocketAddress internet)) {
            return address == null ? "an unknown address" : address.toString();
        }
        var host = internet.getHostString();
        var text = host.contains(":") ? "[" + ZEROS.matcher(host).replaceFirst("::") + "]" : host;
        return text + ":" + internet.getPort();
    }
}
