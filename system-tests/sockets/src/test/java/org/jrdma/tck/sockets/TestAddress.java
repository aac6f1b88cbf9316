package org.jrdma.tck.sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The address at which servers listen. The system property {@code jrdma.test.address} sets it to
 * the address of an RDMA device; the default is the loopback address.
 */
final class TestAddress {

    private static final String ADDRESS = System.getProperty("jrdma.test.address");

    /** The address as text. */
    static final String HOST =
            ADDRESS == null ? InetAddress.getLoopbackAddress().getHostAddress() : ADDRESS;

    /** The address with a port that the system chooses. */
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.ofLiteral(HOST), 0);

    private TestAddress() {}
}
