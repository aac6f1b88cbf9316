/**
 * What every binding of the SDK needs of the Foreign Function and Memory API: libraries found and
 * functions linked, failures explained, native objects guarded against use after close, descriptors
 * waited for without pinning a virtual thread.
 *
 * <p>All restricted methods are called here, so one flag serves the whole SDK: {@code
 * --enable-native-access=org.jrdma.ffi}.
 */
@SuppressWarnings("module") // the bindings are built later
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
            org.jrdma.sockets;

    uses org.jrdma.ffi.SoftwareLibrary;
}
