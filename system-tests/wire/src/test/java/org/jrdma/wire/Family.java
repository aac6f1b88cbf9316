package org.jrdma.wire;

import java.net.InetAddress;

/** The addresses of both ends of the wire in one version of IP. */
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

    /** Where rxe1 is. */
    String kernel() {
        return kernel;
    }

    /** Where the software fabric is. */
    String software() {
        return software;
    }

    InetAddress softwareAddress() {
        return InetAddress.ofLiteral(software);
    }

    /** The row of rxe1's GID table. */
    int kernelGid() {
        return kernelGid;
    }
}
