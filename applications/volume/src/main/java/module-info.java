/** A clustered file store whose nodes access shared drives directly, or through other nodes. */
@SuppressWarnings("module") // the module of the mount is optional
module org.jrdma.volume {
    requires transitive org.jrdma.ffi;
    requires transitive org.jrdma.nvme;
    requires transitive org.jrdma.sisci;
    requires transitive org.jrdma.sockets;
    requires org.jrdma.verbs;
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports org.jrdma.volume;
    exports org.jrdma.volume.drive;
    exports org.jrdma.volume.model;
    exports org.jrdma.volume.net;
    exports org.jrdma.volume.client to
            org.jrdma.volume.fuse;
    exports org.jrdma.volume.metadata to
            org.jrdma.volume.fuse;
    exports org.jrdma.volume.protocol to
            org.jrdma.volume.fuse;

    provides java.nio.file.spi.FileSystemProvider with
            org.jrdma.volume.nio.VolumeFileSystemProvider;
}
