/** A JUnit extension that provides software RDMA devices to tests. */
module org.jrdma.soft.junit {
    requires transitive org.jrdma.verbs;
    requires transitive org.jrdma.soft.roce;
    requires transitive org.junit.jupiter.api;
    requires org.junit.platform.commons;
    requires org.opentest4j;
    requires static transitive org.jspecify;

    exports org.jrdma.soft.junit;

    opens org.jrdma.soft.junit to
            org.junit.platform.commons;
}
