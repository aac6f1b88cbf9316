package org.jrdma.tck.sockets;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Where servers listen: at the loopback address, or at one that an RDMA device has. */
final class Here {

    private static final String ADDRESS = System.getProperty("jrdma.test.address");

    /** As programs write it that take a host. */
    static final String HOST =
            ADDRESS == null ? InetAddress.getLoopbackAddress().getHostAddress() : ADDRESS;

    /** With a port of the system's choice. */
    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.ofLiteral(HOST), 0);

    private Here() {}
}
