/** A module that uses RDMA. It requires only one module of jrdma. */
module org.example.consumer {
    requires org.jrdma.verbs;
}
