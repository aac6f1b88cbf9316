package org.jrdma.sockets.adaptor;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.SocketImpl;

/** For an adaptor's superclass, which must have one but is never asked to do anything. */
final class NoSocketImplementation extends SocketImpl {

    private static AssertionError asked() {
        return new AssertionError("the channel does it");
    }

    @Override
    protected void create(boolean stream) {
        throw asked();
    }

    @Override
    protected void connect(String host, int port) {
        throw asked();
    }

    @Override
    protected void connect(InetAddress address, int port) {
        throw asked();
    }

    @Override
    protected void connect(SocketAddress address, int timeout) {
        throw asked();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        throw asked();
    }

    @Override
    protected void listen(int backlog) {
        throw asked();
    }

    @Override
    protected void accept(SocketImpl other) {
        throw asked();
    }

    @Override
    protected InputStream getInputStream() {
        throw asked();
    }

    @Override
    protected OutputStream getOutputStream() {
        throw asked();
    }

    @Override
    protected int available() {
        throw asked();
    }

    @Override
    protected void close() {}

    @Override
    protected void sendUrgentData(int data) {
        throw asked();
    }

    @Override
    public void setOption(int name, Object value) {
        throw asked();
    }

    @Override
    public Object getOption(int name) {
        throw asked();
    }
}
