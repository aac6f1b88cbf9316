/** A fabric of nodes that share memory, in Java, behind the ABI of libsisci. */
module org.jrdma.soft.sisci {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.sisci;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.soft.sisci;

    provides org.jrdma.ffi.SoftwareLibrary with
            org.jrdma.soft.sisci.SoftSisci;
}
