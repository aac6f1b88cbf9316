package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import org.jrdma.sockets.channel.ListenerChannel;
import org.jspecify.annotations.Nullable;

/**
 * The server socket that a server socket factory returns: a {@link ServerSocketAdaptor} with the
 * exceptions of {@link FactorySocket}.
 */
final class FactoryServerSocket extends ServerSocketAdaptor {

    FactoryServerSocket(ListenerChannel channel) {
        super(channel);
    }

    @Override
    public <T> ServerSocket setOption(SocketOption<T> name, T value) throws IOException {
        return ClosedSocketExceptions.callOnSocket(() -> super.setOption(name, value));
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return ClosedSocketExceptions.callOnSocket(() -> super.getOption(name));
    }

    @Override
    public void bind(@Nullable SocketAddress address, int backlog) throws IOException {
        ClosedSocketExceptions.callOnSocket(() -> {
            super.bind(address, backlog);
            return null;
        });
    }

    @Override
    public Socket accept() throws IOException {
        return ClosedSocketExceptions.callOnSocket(super::accept);
    }
}
