/**
 * libibverbs and librdmacm for Java: devices, memory regions, completion queues, queue pairs, RDMA
 * and connections by address.
 */
module org.jrdma.verbs {
    requires transitive org.jrdma.ffi;
    requires org.jrdma.abi.rdma;
    requires org.slf4j;
    requires jdk.jfr;
    requires static transitive org.jspecify;

    exports org.jrdma.verbs;
    exports org.jrdma.verbs.cm;
    exports org.jrdma.verbs.cm.model;
    exports org.jrdma.verbs.flow;
    exports org.jrdma.verbs.flow.model;
    exports org.jrdma.verbs.memory;
    exports org.jrdma.verbs.model;
}
