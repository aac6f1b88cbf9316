/**
 * The common base of the SDK's bindings on the Foreign Function and Memory API: library lookup,
 * function linkage, error reporting, lifetimes that protect native objects against use after close,
 * and waiting on file descriptors without pinning virtual threads.
 *
 * <p>All restricted methods are called in this module, so the whole SDK needs only {@code
 * --enable-native-access=org.jrdma.ffi}.
 */
// The modules in the qualified exports are built later, so javac cannot find them.
@SuppressWarnings("module")
module org.jrdma.ffi {
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.ffi;
    exports org.jrdma.ffi.doctor to
            org.jrdma.cli,
            org.jrdma.sockets;
    exports org.jrdma.ffi.guard to
            org.jrdma.verbs,
            org.jrdma.sisci,
            org.jrdma.cli;
    exports org.jrdma.ffi.linkage to
            org.jrdma.verbs,
            org.jrdma.soft.roce,
            org.jrdma.sisci,
            org.jrdma.soft.sisci,
            org.jrdma.sockets,
            org.jrdma.nvme;

    uses org.jrdma.ffi.JavaImplementedLibrary;
}
