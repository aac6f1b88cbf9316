package org.jrdma.sockets.adaptor;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/**
 * A placeholder for the constructors of Socket and ServerSocket, which require an implementation
 * object. It is never used, because the adaptors override every method that would use it.
 */
final class UnusedSocketImplementation extends SocketImpl {

    private static AssertionError unused() {
        return new AssertionError("The adaptor overrides the methods that use this object");
    }

    @Override
    protected void create(boolean stream) {
        throw unused();
    }

    @Override
    protected void connect(String host, int port) {
        throw unused();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw unused();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw unused();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw unused();
    }

    @Override
    protected void listen(int backlog) {
        throw unused();
    }

    @Override
    protected void accept(SocketImpl other) {
        throw unused();
    }

    @Override
    protected InputStream getInputStream() {
        throw unused();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw unused();
    }

    @Override
    protected int available() {
        throw unused();
    }

    @Override
    protected void close() {}

    @Override
    protected void sendUrgentData(int data) {
        throw unused();
    }

    @Override
    public void setOption(int name, Object value) {
        throw unused();
    }

    @Override
    public Object getOption(int name) {
        throw unused();
    }
}
