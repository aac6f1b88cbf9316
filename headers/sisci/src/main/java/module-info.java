/** What libsisci looks like from Java: layouts, constants, function descriptors. Generated; see headers/README.md. */
@SuppressWarnings("module") // the targets of the qualified export are built after this module
module org.jrdma.abi.sisci {
    exports org.jrdma.abi.sisci to
            org.jrdma.sisci,
            org.jrdma.soft.sisci;
}
