/** The layouts, constants and function descriptors of libibverbs, librdmacm and rsocket. Generated; see headers/README.md. */
@SuppressWarnings("module") // the target of the qualified export is built after this module
module org.jrdma.abi.rdma {
    exports org.jrdma.abi.rdma to
            org.jrdma.verbs,
            org.jrdma.soft.roce,
            org.jrdma.sockets;
}
