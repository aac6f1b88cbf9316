package org.jrdma.sockets.channel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.ByteStream;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;

/** A connected stream socket of the kernel. */
record KernelStream(int descriptor) implements ByteStream {

    @Override
    public int receive(MemorySegment target, long maxBytes) {
        return SocketCalls.receive(descriptor, target, maxBytes);
    }

    @Override
    public int send(MemorySegment source, long bytes) {
        return SocketCalls.send(descriptor, source, bytes, 0);
    }

    @Override
    public int available() {
        return SocketCalls.available(descriptor);
    }

    @Override
    public void shutdownInput() throws IOException {
        shutdown(SocketCalls.SHUT_RD);
    }

    @Override
    public void shutdownOutput() throws IOException {
        shutdown(SocketCalls.SHUT_WR);
    }

    /** Shuts down one direction. Does not fail if the connection has ended in the meantime. */
    private void shutdown(int how) throws IOException {
        var result = SocketCalls.shutdown(descriptor, how);
        if (result != -Errno.ENOTCONN) {
            SocketFailure.check(result);
        }
    }
}
