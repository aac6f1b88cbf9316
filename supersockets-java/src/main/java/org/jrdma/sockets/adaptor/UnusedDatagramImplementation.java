package org.jrdma.sockets.adaptor;

import java.net.DatagramPacket;
import java.net.DatagramSocketImpl;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;

/**
 * A placeholder for the constructor of DatagramSocket, which requires an implementation object. It
 * is never used, because the adaptor overrides every method that would use it.
 */
@SuppressWarnings("removal") // DatagramSocketImpl declares getTTL and setTTL as abstract.
final class UnusedDatagramImplementation extends DatagramSocketImpl {

    private static AssertionError unused() {
        return new AssertionError("The adaptor overrides the methods that use this object");
    }

    @Override
    protected void create() {
        throw unused();
    }

    @Override
    protected void bind(int port, InetAddress address) {
        throw unused();
    }

    @Override
    protected void send(DatagramPacket packet) {
        throw unused();
    }

    @Override
    protected int peek(InetAddress address) {
        throw unused();
    }

    @Override
    protected int peekData(DatagramPacket packet) {
        throw unused();
    }

    @Override
    protected void receive(DatagramPacket packet) {
        throw unused();
    }

    @Override
    @Deprecated
    protected void setTTL(byte hops) {
        throw unused();
    }

    @Override
    @Deprecated
    protected byte getTTL() {
        throw unused();
    }

    @Override
    protected void setTimeToLive(int hops) {
        throw unused();
    }

    @Override
    protected int getTimeToLive() {
        throw unused();
    }

    @Override
    protected void join(InetAddress group) {
        throw unused();
    }

    @Override
    protected void leave(InetAddress group) {
        throw unused();
    }

    @Override
    protected void joinGroup(SocketAddress group, NetworkInterface on) {
        throw unused();
    }

    @Override
    protected void leaveGroup(SocketAddress group, NetworkInterface on) {
        throw unused();
    }

    @Override
    protected void close() {}

    @Override
    public void setOption(int name, Object value) {
        throw unused();
    }

    @Override
    public Object getOption(int name) {
        throw unused();
    }
}
