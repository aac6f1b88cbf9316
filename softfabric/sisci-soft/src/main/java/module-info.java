/** The software fabric for SISCI: a Java implementation of libsisci, whose nodes share memory. */
module org.jrdma.soft.sisci {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.sisci;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.soft.sisci;
    exports org.jrdma.soft.sisci.device;

    provides org.jrdma.ffi.JavaImplementedLibrary with
            org.jrdma.soft.sisci.SoftSisci;
}
