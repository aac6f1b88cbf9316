package org.jrdma.wire;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A program that sends packets to the RoCE port of a host. Arguments: the source address, the
 * destination address, and the packets in hexadecimal digits.
 */
final class HexPacketSender {

    static final int SOURCE_PORT = 40_000;
    static final int PORT = 4791;

    private HexPacketSender() {}

    static void main(String... arguments) throws IOException {
        var source = InetAddress.ofLiteral(arguments[0]);
        var destination = InetAddress.ofLiteral(arguments[1]);
        try (var socket = new DatagramSocket(new InetSocketAddress(source, SOURCE_PORT))) {
            for (var digits : Arrays.asList(arguments).subList(2, arguments.length)) {
                var bytes = HexFormat.of().parseHex(digits);
                socket.send(new DatagramPacket(bytes, bytes.length, destination, PORT));
            }
        }
    }
}
