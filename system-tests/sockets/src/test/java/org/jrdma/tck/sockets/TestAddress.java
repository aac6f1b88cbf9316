package org.jrdma.tck.sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The address where servers listen: loopback, or the address of an RDMA device that a property
 * names.
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
