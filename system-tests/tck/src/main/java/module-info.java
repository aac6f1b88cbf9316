/** The conformance kit for verbs: JUnit tests that each fabric must pass. */
module org.jrdma.tck.verbs {
    requires jdk.management;
    requires transitive org.jrdma.verbs;
    requires transitive org.jrdma.ffi;
    requires org.junit.jupiter.api;
    requires org.junit.jupiter.params;
    requires org.junit.platform.engine;
    requires org.junit.platform.launcher;
    requires org.assertj.core;
    requires static transitive org.jspecify;

    exports org.jrdma.tck.verbs;

    opens org.jrdma.tck.verbs to
            org.junit.platform.commons;
}
