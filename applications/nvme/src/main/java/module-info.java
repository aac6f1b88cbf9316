/** An NVMe driver, and an NVMe controller in software. */
module org.jrdma.nvme {
    requires transitive org.jrdma.ffi;
    requires transitive org.jrdma.sisci;
    requires transitive org.jrdma.soft.sisci;
    requires transitive org.jrdma.verbs;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.nvme;
    exports org.jrdma.nvme.model;
    exports org.jrdma.nvme.pcie;
    exports org.jrdma.nvme.soft;
}
