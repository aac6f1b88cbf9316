package org.jrdma.cli.volume;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.volume.net.TransportKind;

/** Parses the addresses of servers. */
final class Addresses {

    private static final int PORT = 7471;
    private static final int MAX_PORT = 65_535;

    private static final Pattern HOST_AND_PORT =
            Pattern.compile("(?:\\[([^\\[\\]]+)]|([^:\\[\\]\\s]+))(?::(\\d{1,5}))?");

    private Addresses() {}

    private record HostAndPort(String host, int port) {
        static HostAndPort parse(String text) {
            var form = HOST_AND_PORT.matcher(text);
            var port =
                    !form.matches()
                            ? -1
                            : form.group(3) == null ? PORT : Integer.parseInt(form.group(3));
            if (port < 0 || port > MAX_PORT) {
                throw new IllegalArgumentException(
                        "\"%s\" is not an address such as node1, node1:%d or [fd00::1]:%d"
                                .formatted(text, PORT, PORT));
            }
            return new HostAndPort(form.group(1) == null ? form.group(2) : form.group(1), port);
        }
    }

    /**
     * Parses servers that commas separate. A plus sign separates the addresses of a server, if it
     * has several: {@code sockets:node1:7471+verbs:10.0.0.1:7472}.
     *
     * @return the addresses of each server
     * @throws IllegalArgumentException if an address is invalid, or there is none
     */
    static List<List<String>> servers(String text) {
        return Arrays.stream(text.split(",", -1))
                .map(server ->
                        Arrays.stream(server.split("\\+", -1))
                                .map(address -> address(address.strip()))
                                .toList())
                .toList();
    }

    private static String address(String text) {
        for (var transport : TransportKind.values()) {
            if (text.startsWith(transport + ":")) {
                return text;
            }
        }
        var parsed = HostAndPort.parse(text);
        var host = parsed.host().contains(":") ? "[%s]".formatted(parsed.host()) : parsed.host();
        return "%s:%s:%d".formatted(TransportKind.SOCKETS, host, parsed.port());
    }

    /**
     * Parses an address to listen at.
     *
     * @throws IllegalArgumentException if it is invalid, or its host is unknown
     */
    static InetSocketAddress local(String text) {
        var parsed = HostAndPort.parse(text);
        try {
            return new InetSocketAddress(InetAddress.getByName(parsed.host()), parsed.port());
        } catch (UnknownHostException _) {
            throw new IllegalArgumentException("The host %s is unknown".formatted(parsed.host()));
        }
    }
}
