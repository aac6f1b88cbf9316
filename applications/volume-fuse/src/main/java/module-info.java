/** Mounts a clustered volume as a file system of Linux, through FUSE. */
module org.jrdma.volume.fuse {
    requires org.cryptomator.jfuse.api;
    requires org.jrdma.volume;
    requires org.slf4j;
    requires static org.jspecify;
}
