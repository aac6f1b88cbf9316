/**
 * Java sockets over the fastest available transport, which report the transport that each
 * connection uses.
 */
module org.jrdma.sockets {
    requires transitive org.jrdma.ffi;
    requires transitive org.jrdma.sisci;
    requires org.jrdma.abi.rdma;
    requires java.management;
    requires jdk.jfr;
    requires jdk.net;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.sockets;
    exports org.jrdma.sockets.model;
}
