package org.jrdma.sockets.adaptor;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.time.Duration;
import org.jrdma.ffi.Deadline;

/**
 * The options and timeouts of a {@code java.net} adaptor, and the conversion of the channel's
 * exceptions. Safe for use by multiple threads.
 */
final class SocketOptionsAdaptor {

    private final NetworkChannel channel;
    private volatile int timeout;

    SocketOptionsAdaptor(NetworkChannel channel) {
        this.channel = channel;
    }

    void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    /** Sets the timeout of later operations in milliseconds; 0 disables the timeout. */
    void setTimeout(int timeout) throws SocketException {
        ensureOpen();
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        this.timeout = timeout;
    }

    int timeout() throws SocketException {
        ensureOpen();
        return timeout;
    }

    /** Returns the deadline of an operation that starts now, from the current timeout. */
    Deadline deadline() {
        return deadline(timeout);
    }

    <T> void set(SocketOption<T> name, T value) throws SocketException {
        callAsSocket(() -> channel.setOption(name, value));
    }

    <T> T get(SocketOption<T> name) throws SocketException {
        return callAsSocket(() -> channel.getOption(name));
    }

    /**
     * Sets a buffer size.
     *
     * @throws IllegalArgumentException with the message {@code message} if {@code size} is not
     *     positive
     */
    void setSize(SocketOption<Integer> name, int size, String message) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException(message);
        }
        set(name, size);
    }

    @FunctionalInterface
    interface Call<T> {
        T make() throws IOException;
    }

    /**
     * Calls {@code call} on a channel. Converts unchecked exceptions of channels to the exceptions
     * of {@code java.net} sockets.
     */
    static <T> T call(Call<T> call) throws IOException {
        try {
            return call.make();
        } catch (RuntimeException e) {
            throw asSocketException(e);
        }
    }

    /**
     * Calls {@code call} on a channel, for a method that declares only SocketException. Converts
     * all exceptions of channels to that type.
     */
    static <T> T callAsSocket(Call<T> call) throws SocketException {
        try {
            return call(call);
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw socketException("Socket is closed", e);
        } catch (IOException e) {
            throw socketException(e.getMessage(), e);
        }
    }

    private static SocketException asSocketException(RuntimeException e) {
        return switch (e) {
            case NotYetConnectedException _ -> socketException("Socket is not connected", e);
            case NotYetBoundException _ -> socketException("Socket is not bound yet", e);
            case AlreadyBoundException _ -> socketException("Already bound", e);
            case AlreadyConnectedException _ -> socketException("Already connected", e);
            case UnsupportedAddressTypeException _ ->
                    socketException("Unsupported address type", e);
            case UnresolvedAddressException _ -> socketException("Unresolved address", e);
            default -> throw e;
        };
    }

    static SocketException socketException(String message, Exception cause) {
        var exception = new SocketException(message);
        exception.initCause(cause);
        return exception;
    }

    /** Returns the deadline for a timeout in milliseconds, where 0 disables the timeout. */
    static Deadline deadline(int milliseconds) {
        return milliseconds == 0 ? Deadline.NEVER : Deadline.after(Duration.ofMillis(milliseconds));
    }
}
