package org.jrdma.sockets;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import org.jspecify.annotations.Nullable;

/** What {@link PlainSocket} is, for a {@link ServerSocket} and what it accepts. */
final class PlainServerSocket extends ServerSocketAdaptor {

    private PlainServerSocket(ListenerChannel channel) {
        super(channel);
    }

    static PlainServerSocket of(ListenerChannel channel) {
        return new PlainServerSocket(channel);
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        return PlainWords.ofSocket(() -> super.setOption(name, value));
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return PlainWords.ofSocket(() -> super.getOption(name));
    }

    @Override
    public void bind(@Nullable SocketAddress address, int backlog) throws IOException {
        PlainWords.ofSocket(() -> {
            super.bind(address, backlog);
            return null;
        });
    }

    @Override
    public Socket accept() throws IOException {
        return PlainWords.ofSocket(() -> acceptChannel().plainSocket());
    }
}
