/** The {@code jrdma} command: what RDMA a machine has, and what is wrong with it. */
module org.jrdma.cli {
    requires org.jrdma.sisci;
    requires org.jrdma.verbs;
    requires info.picocli;
    requires static org.jspecify;

    opens org.jrdma.cli to
            info.picocli;
}
