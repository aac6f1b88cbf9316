package org.jrdma.volume.net;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.Arrays;
import java.util.List;
import org.jrdma.ffi.FabricException;

/** Parses the addresses of nodes in commands, settings and URIs. */
public final class NodeAddresses {

    /** The port of an address that has none. */
    public static final int DEFAULT_PORT = 7471;

    private NodeAddresses() {}

    private static HostAndPort hostAndPort(String text) {
        return HostAndPort.parse(text, DEFAULT_PORT)
                .orElseThrow(() ->
                        new IllegalArgumentException(
                                "\"%s\" is not an address such as node1, node1:%d or [fd00::1]:%d"
                                        .formatted(text, DEFAULT_PORT, DEFAULT_PORT)));
    }

    /**
     * Parses servers that commas separate. A plus sign separates the addresses of a server, if it
     * has several: {@code sockets:node1:7471+verbs:10.0.0.1:7472}. An address without a transport
     * is for sockets.
     *
     * @return the addresses of each server
     * @throws IllegalArgumentException if an address is invalid, or there is none
     */
    public static List<List<String>> servers(String text) {
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
                check(text);
                return text;
            }
        }
        return hostAndPort(text).toString(TransportKind.SOCKETS);
    }

    /**
     * Returns true if one of the servers has a port of this host as an address for sockets.
     * Resolves the names of hosts.
     */
    public static boolean haveLocalPort(List<List<String>> servers, int port) {
        return servers.stream()
                .flatMap(List::stream)
                .filter(address -> address.startsWith(TransportKind.SOCKETS + ":"))
                .map(address -> address.substring(address.indexOf(':') + 1))
                .flatMap(place -> HostAndPort.parse(place, DEFAULT_PORT).stream())
                .anyMatch(address -> address.port() == port && isLocal(address.host()));
    }

    private static boolean isLocal(String host) {
        try {
            for (var address : InetAddress.getAllByName(host)) {
                if (address.isLoopbackAddress()
                        || NetworkInterface.getByInetAddress(address) != null) {
                    return true;
                }
            }
            return false;
        } catch (IOException _) { // an unknown host
            return false;
        }
    }

    /**
     * Checks an address with a transport, such as {@code verbs:10.0.0.1:7472}.
     *
     * @throws IllegalArgumentException if it is invalid
     */
    public static void check(String address) {
        try {
            WireAddress.parse(address).checkPlace();
        } catch (FabricException e) {
            throw new IllegalArgumentException(
                    "\"%s\" is not an address such as sockets:node1:%d, verbs:10.0.0.1:7472 or sisci:4:1001"
                            .formatted(address, DEFAULT_PORT),
                    e);
        }
    }

    /**
     * Parses a host and a port, and does not resolve the host.
     *
     * @throws IllegalArgumentException if the text is invalid
     */
    public static InetSocketAddress unresolved(String text) {
        var parsed = hostAndPort(text);
        return InetSocketAddress.createUnresolved(parsed.host(), parsed.port());
    }
}
