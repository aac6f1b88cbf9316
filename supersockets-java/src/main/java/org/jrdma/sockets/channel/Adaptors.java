package org.jrdma.sockets.channel;

import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Function;

/**
 * Creates the {@code java.net} sockets that adapt channels.
 *
 * @param stream adapts a stream
 * @param listener adapts a listener
 * @param datagram adapts a datagram channel
 */
public record Adaptors(
        Function<StreamChannel, Socket> stream,
        Function<ListenerChannel, ServerSocket> listener,
        Function<FabricDatagramChannel, DatagramSocket> datagram) {}
