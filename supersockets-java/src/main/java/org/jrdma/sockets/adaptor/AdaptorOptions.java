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
 * What the adaptors of channels to {@code java.net} have in common: options, a time-out, and
 * refusals as sockets have them. Safe for use by several threads.
 */
final class AdaptorOptions {

    private final NetworkChannel channel;
    private volatile int timeout;

    AdaptorOptions(NetworkChannel channel) {
        this.channel = channel;
    }

    void ensureOpen() throws SocketException {
        if (!channel.isOpen()) {
            throw new SocketException("Socket is closed");
        }
    }

    /** In milliseconds; 0 for none. */
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

    /** The end of the time-out, of what begins now. */
    Deadline deadline() {
        return deadline(timeout);
    }

    <T> void set(SocketOption<T> name, T value) throws SocketException {
        setUp(() -> channel.setOption(name, value));
    }

    <T> T get(SocketOption<T> name) throws SocketException {
        return setUp(() -> channel.getOption(name));
    }

    /** Sets a size, or says {@code refusal} of one that is none. */
    void setSize(SocketOption<Integer> name, int size, String refusal) throws SocketException {
        if (size <= 0) {
            throw new IllegalArgumentException(refusal);
        }
        set(name, size);
    }

    /** A call on a channel. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws IOException;
    }

    /** Makes a call on a channel, whose unchecked refusals become those of sockets. */
    static <T> T call(Call<T> call) throws IOException {
        try {
            return call.make();
        } catch (RuntimeException e) {
            throw asSocketException(e);
        }
    }

    /** The same where sockets declare this exception alone. */
    static <T> T setUp(Call<T> call) throws SocketException {
        try {
            return call(call);
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw because("Socket is closed", e);
        } catch (IOException e) {
            throw because(e.getMessage(), e);
        }
    }

    private static SocketException asSocketException(RuntimeException e) {
        return switch (e) {
            case NotYetConnectedException _ -> because("Socket is not connected", e);
            case NotYetBoundException _ -> because("Socket is not bound yet", e);
            case AlreadyBoundException _ -> because("Already bound", e);
            case AlreadyConnectedException _ -> because("Already connected", e);
            case UnsupportedAddressTypeException _ -> because("Unsupported address type", e);
            case UnresolvedAddressException _ -> because("Unresolved address", e);
            default -> throw e;
        };
    }

    private static SocketException because(String message, Exception cause) {
        var exception = new SocketException(message);
        exception.initCause(cause);
        return exception;
    }

    /** The end of a time-out in milliseconds, of which 0 has none. */
    static Deadline deadline(int milliseconds) {
        return milliseconds == 0 ? Deadline.NEVER : Deadline.after(Duration.ofMillis(milliseconds));
    }
}
