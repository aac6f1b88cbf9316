/** Programs to read from top to bottom, and to run with {@code ./jrdma example}. */
@SuppressWarnings("module") // org.jrdma.interop is compiled after this module.
open module org.jrdma.examples {
    requires transitive info.picocli;
    requires transitive org.jrdma.sisci;
    requires transitive org.jrdma.verbs;

    exports org.jrdma.examples to
            org.jrdma.interop;
}
