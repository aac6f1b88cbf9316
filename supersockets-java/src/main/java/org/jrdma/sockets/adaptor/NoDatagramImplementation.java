package org.jrdma.sockets.adaptor;

import java.net.DatagramPacket;
import java.net.DatagramSocketImpl;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;

/** For an adaptor's superclass, which must have one but is never asked to do anything. */
@SuppressWarnings("removal") // two of the methods are abstract there all the same
final class NoDatagramImplementation extends DatagramSocketImpl {

    private static AssertionError asked() {
        return new AssertionError("the channel does it");
    }

    @Override
    protected void create() {
        throw asked();
    }

    @Override
    protected void bind(int port, InetAddress address) {
        throw asked();
    }

    @Override
    protected void send(DatagramPacket packet) {
        throw asked();
    }

    @Override
    protected int peek(InetAddress address) {
        throw asked();
    }

    @Override
    protected int peekData(DatagramPacket packet) {
        throw asked();
    }

    @Override
    protected void receive(DatagramPacket packet) {
        throw asked();
    }

    @Override
    @Deprecated
    protected void setTTL(byte hops) {
        throw asked();
    }

    @Override
    @Deprecated
    protected byte getTTL() {
        throw asked();
    }

    @Override
    protected void setTimeToLive(int hops) {
        throw asked();
    }

    @Override
    protected int getTimeToLive() {
        throw asked();
    }

    @Override
    protected void join(InetAddress group) {
        throw asked();
    }

    @Override
    protected void leave(InetAddress group) {
        throw asked();
    }

    @Override
    protected void joinGroup(SocketAddress group, NetworkInterface on) {
        throw asked();
    }

    @Override
    protected void leaveGroup(SocketAddress group, NetworkInterface on) {
        throw asked();
    }

    @Override
    protected void close() {}

    @Override
    public void setOption(int name, Object value) {
        throw asked();
    }

    @Override
    public Object getOption(int name) {
        throw asked();
    }
}
