/** The {@code jrdma} command, which lists, diagnoses and measures RDMA, SISCI and sockets. */
module org.jrdma.cli {
    requires java.desktop;
    requires java.management;
    requires java.management.rmi;
    requires jdk.attach;
    requires jdk.jfr;
    requires org.jrdma.nvme;
    requires org.jrdma.sisci;
    requires org.jrdma.sockets;
    requires org.jrdma.soft.sisci;
    requires org.jrdma.verbs;
    requires org.jrdma.volume;
    requires info.picocli;
    requires static org.jspecify;

    opens org.jrdma.cli to
            info.picocli;
    opens org.jrdma.cli.net to
            info.picocli;
    opens org.jrdma.cli.nvme to
            info.picocli;
    opens org.jrdma.cli.output to
            info.picocli;
    opens org.jrdma.cli.perf to
            info.picocli;
    opens org.jrdma.cli.volume to
            info.picocli;
}
