/** The conformance kit for SISCI: JUnit classes that every fabric must pass. */
module org.jrdma.tck.sisci {
    requires transitive org.jrdma.sisci;
    requires transitive org.jrdma.ffi;
    requires org.junit.jupiter.api;
    requires org.junit.jupiter.params;
    requires org.assertj.core;
    requires static transitive org.jspecify;

    exports org.jrdma.tck.sisci;

    opens org.jrdma.tck.sisci to
            org.junit.platform.commons;
}
