/** Sockets for Java on the fastest path there is, which say which one they took. */
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
