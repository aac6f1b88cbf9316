package org.jrdma.volume.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cryptomator.jfuse.api.Fuse;
import org.cryptomator.jfuse.api.FuseMountFailedException;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodePolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts a volume as a file system of Linux, through FUSE, for programs that know only files. */
public final class Mount implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Mount.class);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration POLL_PAUSE = Duration.ofMillis(200);
    private static final int UNMOUNT_SECONDS = 10;
    private static final String TYPE = "jrdma-volume";

    /** Replaces the search for libfuse3 in the folders of the distribution. */
    private static final String LIBRARY_PROPERTY = "jrdma.libfuse3";

    private static final List<String> LIBRARIES = List.of("libfuse3.so.4", "libfuse3.so.3");

    private final Path mountPoint;
    private final Optional<FileDrive> drive;
    private final VolumeClient client;
    private final Fuse fuse;
    private boolean isClosed;

    private Mount(Path mountPoint, Optional<FileDrive> drive, VolumeClient client, Fuse fuse) {
        this.mountPoint = mountPoint;
        this.drive = drive;
        this.client = client;
        this.fuse = fuse;
    }

    /**
     * Mounts a volume until it is unmounted.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String... arguments) throws InterruptedException {
        var list = List.of(arguments);
        if (list.contains("--help")) {
            System.out.print(MountOptions.USAGE);
            return;
        }
        try (var mount = open(MountOptions.parse(list))) {
            Runtime.getRuntime().addShutdownHook(new Thread(mount::close));
            System.out.printf(
                    "Mounted the volume at %s, until \"umount %s\" or Ctrl+C (%s).%n",
                    mount.mountPoint, mount.mountPoint, mount.client.describe());
            while (mount.isMounted()) {
                Thread.sleep(POLL_PAUSE);
            }
        } catch (IllegalArgumentException e) {
            System.err.println("jrdma volume mount: " + e.getMessage());
            System.exit(2);
        } catch (IOException | FuseMountFailedException | UnsatisfiedLinkError e) {
            System.err.println("jrdma volume mount: " + e.getMessage());
            System.exit(1);
        }
    }

    private static Mount open(MountOptions options) throws IOException, FuseMountFailedException {
        var builder = Fuse.builder();
        builder.setLibraryPath(library().toString());
        Optional<FileDrive> drive =
                options.drive().isPresent()
                        ? Optional.of(FileDrive.open(options.drive().get()))
                        : Optional.empty();
        var client =
                new VolumeClient(
                        new ClientOptions(
                                "mount-" + ProcessHandle.current().pid(),
                                options.servers(),
                                List.of(),
                                true,
                                CALL_TIMEOUT,
                                options.retry()),
                        new NodeConnector(NodePolicy.ALL.transports(options.transports())),
                        drive.map(Drive.class::cast));
        var process = Path.of("/proc/self");
        var user = (int) Files.getAttribute(process, "unix:uid");
        var group = (int) Files.getAttribute(process, "unix:gid");
        var fuse = builder.build(new VolumeOperations(client, builder.errno(), user, group));
        var mount = new Mount(options.mountPoint(), drive, client, fuse);
        var isMounted = false;
        try {
            fuse.mount(TYPE, mount.mountPoint, "-o", flags(options));
            isMounted = true;
        } finally {
            if (!isMounted) {
                client.close();
                drive.ifPresent(FileDrive::close);
            }
        }
        return mount;
    }

    private static String flags(MountOptions options) {
        var server = options.servers().getFirst().getFirst();
        var flags =
                new ArrayList<>(
                        List.of(
                                "fsname=" + server,
                                "subtype=" + TYPE,
                                // other clients change data, attributes and names at any time
                                "attr_timeout=0",
                                "entry_timeout=0",
                                "negative_timeout=0"));
        if (options.isForAllUsers()) {
            flags.add("allow_other");
            flags.add("default_permissions"); // a volume does not check permissions
        }
        return String.join(",", flags);
    }

    private static Path library() throws IOException {
        var selected = System.getProperty(LIBRARY_PROPERTY);
        if (selected != null) {
            return Path.of(selected);
        }
        var machine =
                switch (System.getProperty("os.arch").toLowerCase(Locale.ROOT)) {
                    case "amd64" -> "x86_64";
                    case String other -> other;
                };
        for (var name : LIBRARIES) {
            for (var folder :
                    List.of("/usr/lib/%s-linux-gnu".formatted(machine), "/usr/lib64", "/usr/lib")) {
                var file = Path.of(folder, name);
                if (Files.exists(file)) {
                    return file;
                }
            }
        }
        throw new IOException(
                "libfuse3 is not installed. Install it, on Debian with: apt install fuse3. Or set the system property %s to its path."
                        .formatted(LIBRARY_PROPERTY));
    }

    private boolean isMounted() throws IOException {
        var name =
                mountPoint
                        .toString()
                        .replace("\\", "\\134")
                        .replace(" ", "\\040")
                        .replace("\t", "\\011")
                        .replace("\n", "\\012");
        return Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                .map(line -> line.split(" "))
                .anyMatch(fields -> fields[1].equals(name) && fields[2].equals("fuse." + TYPE));
    }

    /**
     * Unmounts the volume if it is mounted, commits what was written, and ends the session. If a
     * process still uses a file, its later accesses fail.
     */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            // the library frees its callbacks at once, so that it is only closed after its threads
            // have ended
            if (!isMounted() || unmount("-u")) {
                fuse.close();
            } else {
                LOG.warn(
                        "{} is in use. The accesses of processes that still use it fail.",
                        mountPoint);
                var _ = unmount("-uz");
            }
        } catch (IOException | TimeoutException e) {
            LOG.warn("Cannot unmount {}", mountPoint, e);
        }
        client.close();
        drive.ifPresent(FileDrive::close);
    }

    private boolean unmount(String option) throws IOException {
        var process =
                new ProcessBuilder("fusermount3", option, mountPoint.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            return process.waitFor(UNMOUNT_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
