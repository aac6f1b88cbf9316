/** Needs one line to use RDMA. */
module org.example.consumer {
    requires org.jrdma.verbs;
}
