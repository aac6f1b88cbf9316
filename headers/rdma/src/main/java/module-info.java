/** What libibverbs, librdmacm and rsocket look like from Java: layouts, constants, function descriptors. Generated; see headers/README.md. */
@SuppressWarnings("module") // the target of the qualified export is built after this module
module org.jrdma.abi.rdma {
    exports org.jrdma.abi.rdma to
            org.jrdma.verbs,
            org.jrdma.soft.roce,
            org.jrdma.sockets;
}
