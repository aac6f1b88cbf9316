package org.jrdma.wire;

import java.net.InetAddress;

/** An IP version with the addresses of both ends of the wire. */
enum Family {
    IPV4("10.78.0.1", "10.78.0.2", 1),
    IPV6("fd78::1", "fd78::2", 2);

    private final String kernel;
    private final String software;
    private final int kernelGid;

    Family(String kernel, String software, int kernelGid) {
        this.kernel = kernel;
        this.software = software;
        this.kernelGid = kernelGid;
    }

    /** The address of rxe1. */
    String kernel() {
        return kernel;
    }

    /** The address of the software fabric. */
    String software() {
        return software;
    }

    InetAddress softwareAddress() {
        return InetAddress.ofLiteral(software);
    }

    /** The index in the GID table of rxe1. */
    int kernelGid() {
        return kernelGid;
    }
}
