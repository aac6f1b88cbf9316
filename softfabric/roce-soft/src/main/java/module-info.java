/**
 * A software fabric that implements the C functions of libibverbs and librdmacm in Java and sends
 * RoCEv2 packets over UDP.
 */
module org.jrdma.soft.roce {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.rdma;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.soft.roce;
    exports org.jrdma.soft.roce.model;

    provides org.jrdma.ffi.JavaImplementedLibrary with
            org.jrdma.soft.roce.SoftRoce;
}
