/** RoCEv2 in Java, behind the ABI of libibverbs and librdmacm. */
module org.jrdma.soft.roce {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.rdma;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.soft.roce;
    exports org.jrdma.soft.roce.model;

    provides org.jrdma.ffi.SoftwareLibrary with
            org.jrdma.soft.roce.SoftRoce;
}
