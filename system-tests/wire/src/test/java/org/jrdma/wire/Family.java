package org.jrdma.wire;

import java.net.InetAddress;

/** An IP version, with the addresses of both sides of the wire. */
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

    /** Returns the address of rxe1. */
    String kernel() {
        return kernel;
    }

    /** Returns the address of the software fabric. */
    String software() {
        return software;
    }

    InetAddress softwareAddress() {
        return InetAddress.ofLiteral(software);
    }

    /** Returns the index of the address of rxe1 in its GID table. */
    int kernelGid() {
        return kernelGid;
    }
}
