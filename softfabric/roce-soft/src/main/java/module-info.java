/** RoCEv2 in Java, behind the ABI of libibverbs. */
module org.jrdma.soft.roce {
    requires org.jrdma.ffi;
    requires org.jrdma.abi.rdma;
    requires org.slf4j;
    requires static org.jspecify;
}
