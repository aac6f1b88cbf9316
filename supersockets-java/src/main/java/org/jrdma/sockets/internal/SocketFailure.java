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
 * The exceptions of failed system calls. They have the types and messages of the JDK's channels,
 * because programs depend on both.
 */
public final class SocketFailure {

    private SocketFailure() {}

    /** Returns the exception for opening, binding, connecting or configuring a socket. */
    public static SocketException ofSocket(int errno) {
        var text = SocketCalls.text(errno);
        return switch (errno) {
            case ECONNREFUSED, ETIMEDOUT, ENOTCONN -> new ConnectException(text);
            case EADDRINUSE, EADDRNOTAVAIL, EACCES -> new BindException(text);
            case EHOSTUNREACH -> new NoRouteToHostException(text);
            default -> new SocketException(text);
        };
    }

    /** Returns the exception for connecting, which also covers protocol errors. */
    public static IOException ofConnect(int errno) {
        return errno == EPROTO ? new ProtocolException(SocketCalls.text(errno)) : ofSocket(errno);
    }

    /** Returns the exception for reading or writing. */
    public static IOException ofTransfer(int errno) {
        return new IOException(SocketCalls.text(errno));
    }

    public static int check(int result) throws SocketException {
        if (result < 0) {
            throw ofSocket(-result);
        }
        return result;
    }
}
