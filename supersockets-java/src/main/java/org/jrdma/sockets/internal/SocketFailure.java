package org.jrdma.sockets.internal;

import static org.jrdma.ffi.Errno.EACCES;
import static org.jrdma.ffi.Errno.EADDRINUSE;
import static org.jrdma.ffi.Errno.EADDRNOTAVAIL;
import static org.jrdma.ffi.Errno.ECONNREFUSED;
import static org.jrdma.ffi.Errno.EHOSTUNREACH;
import static org.jrdma.ffi.Errno.ENOTCONN;
import static org.jrdma.ffi.Errno.EPROTO;
import static org.jrdma.ffi.Errno.ETIMEDOUT;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketException;

/**
 * Converts the errno of a failed system call to an exception. The exceptions have the same types
 * and messages as those of the JDK's channels, because programs depend on both.
 */
public final class SocketFailure {

    private SocketFailure() {}

    /** Returns the exception for a failure to open, bind, connect or configure a socket. */
    public static SocketException ofSocket(int errno) {
        var text = SocketCalls.text(errno);
        return switch (errno) {
            case ECONNREFUSED, ETIMEDOUT, ENOTCONN -> new ConnectException(text);
            case EADDRINUSE, EADDRNOTAVAIL, EACCES -> new BindException(text);
            case EHOSTUNREACH -> new NoRouteToHostException(text);
            default -> new SocketException(text);
        };
    }

    /**
     * Returns the exception for a failure to connect. Unlike {@link #ofSocket}, reports EPROTO as a
     * ProtocolException.
     */
    public static IOException ofConnect(int errno) {
        return errno == EPROTO ? new ProtocolException(SocketCalls.text(errno)) : ofSocket(errno);
    }

    /** Returns the exception for a failure to read or write. */
    public static IOException ofTransfer(int errno) {
        return new IOException(SocketCalls.text(errno));
    }

    /**
     * Returns {@code result} unless it is a negative errno.
     *
     * @throws SocketException as {@link #ofSocket} creates it, if {@code result} is a negative
     *     errno
     */
    public static int check(int result) throws SocketException {
        if (result < 0) {
            throw ofSocket(-result);
        }
        return result;
    }
}
