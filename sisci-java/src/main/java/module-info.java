/** SISCI for Java: segments of memory that nodes share across PCIe, DMA, interrupts and SmartIO. */
module org.jrdma.sisci {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.sisci;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.sisci;
    exports org.jrdma.sisci.model;
    exports org.jrdma.sisci.smartio;
}
