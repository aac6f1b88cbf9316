/** RoCEv2 in Java. */
module org.jrdma.soft.roce {
    requires static org.jspecify;
}
