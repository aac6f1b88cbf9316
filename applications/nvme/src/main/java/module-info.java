/** An NVMe driver, and an NVMe controller in software. */
module org.jrdma.nvme {
    requires static transitive org.jspecify;

    exports org.jrdma.nvme.model;
}
