/** The layouts, constants and function descriptors of libsisci. Generated; see headers/README.md. */
@SuppressWarnings("module") // the targets of the qualified export are built after this module
module org.jrdma.abi.sisci {
    exports org.jrdma.abi.sisci to
            org.jrdma.sisci,
            org.jrdma.soft.sisci;
}
