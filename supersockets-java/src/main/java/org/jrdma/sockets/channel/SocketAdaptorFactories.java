package org.jrdma.sockets.channel;

import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Function;

/**
 * Functions that create the {@code java.net} socket for a channel.
 *
 * @param stream creates the socket of a stream
 * @param listener creates the server socket of a listener
 * @param datagram creates the socket of a datagram channel
 */
public record SocketAdaptorFactories(
        Function<StreamChannel, Socket> stream,
        Function<ListenerChannel, ServerSocket> listener,
        Function<UdpDatagramChannel, DatagramSocket> datagram) {}
