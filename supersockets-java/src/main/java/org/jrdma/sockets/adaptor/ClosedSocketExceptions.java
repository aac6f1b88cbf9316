package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.net.SocketException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import org.jrdma.sockets.adaptor.SocketOptionsAdaptor.Call;

/** Converts the exceptions of closed channels to those of {@code java.net} sockets. */
final class ClosedSocketExceptions {

    private ClosedSocketExceptions() {}

    /**
     * Calls {@code call} for a method of a socket. If the socket was closed before, throws a
     * SocketException with the message {@code Socket is closed}.
     */
    static <T> T callOnSocket(Call<T> call) throws IOException {
        return call(call, "Socket is closed");
    }

    /**
     * Calls {@code call} for a method of a socket's stream. If the socket was closed before or
     * meanwhile, throws a SocketException with the message {@code Socket closed}.
     */
    static <T> T callOnStream(Call<T> call) throws IOException {
        return call(call, "Socket closed");
    }

    private static <T> T call(Call<T> call, String closedBefore) throws IOException {
        try {
            return call.make();
        } catch (ClosedByInterruptException e) {
            throw SocketOptionsAdaptor.socketException("Closed by interrupt", e);
        } catch (AsynchronousCloseException e) {
            throw SocketOptionsAdaptor.socketException("Socket closed", e);
        } catch (ClosedChannelException e) {
            throw SocketOptionsAdaptor.socketException(closedBefore, e);
        }
    }

    /** Returns the exception for a write after {@code shutdownOutput}. */
    static SocketException brokenPipe(SocketException cause) {
        return SocketOptionsAdaptor.socketException("Broken pipe", cause);
    }
}
