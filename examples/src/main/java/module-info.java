/** Programs to read from top to bottom, and to start with {@code ./jrdma example}. */
module org.jrdma.examples {
    requires org.jrdma.verbs;
    requires org.jrdma.sisci;
}
