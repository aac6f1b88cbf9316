/** A module that uses RDMA, which takes one line. */
module org.example.consumer {
    requires org.jrdma.verbs;
}
