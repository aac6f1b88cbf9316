package org.jrdma.volume.fuse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.cryptomator.jfuse.api.Fuse;
import org.cryptomator.jfuse.api.FuseMountFailedException;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.drive.Drive;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Mounts a volume as a file system of Linux, through FUSE, for programs that know only files. */
public final class Mount implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Mount.class);
    private static final Duration CALL_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration POLL_PAUSE = Duration.ofMillis(200);
    private static final int UNMOUNT_SECONDS = 10;
    private static final String TYPE = "jrdma-volume";

    /** Selects the library, which is otherwise searched in the folders of the distributions. */
    private static final String LIBRARY_PROPERTY = "jrdma.libfuse3";

    private final Path mountPoint;
    private final Optional<Drive> drive;
    private final VolumeClient client;
    private final Fuse fuse;
    private boolean isClosed;

    private Mount(MountOptions options) throws IOException {
        mountPoint = options.emptyFolder();
        var builder = Fuse.builder();
        builder.setLibraryPath(library());
        var settings = options.settings();
        var named = settings.drive();
        drive = named.isEmpty() ? Optional.empty() : Optional.of(named.get().open());
        var name = "mount-" + ProcessHandle.current().pid();
        client =
                new VolumeClient(
                        new ClientOptions(
                                name,
                                settings.servers(),
                                List.of(),
                                true,
                                CALL_TIMEOUT,
                                settings.retry()),
                        new NodeConnector(settings.nodeOptions()),
                        drive);
        var process = Path.of("/proc/self");
        var user = (int) Files.getAttribute(process, "unix:uid");
        var group = (int) Files.getAttribute(process, "unix:gid");
        fuse = builder.build(new VolumeOperations(client, builder.errno(), user, group));
    }

    private static String library() throws IOException {
        var selected = System.getProperty(LIBRARY_PROPERTY);
        var files =
                selected != null
                        ? Stream.of(selected)
                        : Stream.of("x86_64-linux-gnu/", "aarch64-linux-gnu/", "../lib64/", "")
                                .map(folder -> "/usr/lib/" + folder + "libfuse3.so.")
                                .flatMap(file -> Stream.of(file + 4, file + 3));
        return files.filter(file -> Files.exists(Path.of(file)))
                .findFirst()
                .orElseThrow(() ->
                        new IOException(
                                "libfuse3 is not installed. On Debian: apt install fuse3. Or set the system property %s to its path."
                                        .formatted(LIBRARY_PROPERTY)));
    }

    /**
     * Mounts a volume until it is unmounted.
     *
     * @param arguments see {@code --help}
     */
    public static void main(String... arguments) throws InterruptedException {
        if (List.of(arguments).contains("--help") || List.of(arguments).contains("-h")) {
            System.out.print(MountOptions.USAGE);
            return;
        }
        try {
            var options = MountOptions.parse(List.of(arguments));
            try (var mount = new Mount(options)) {
                mount.start(options);
                System.out.printf("Mounted the volume at %s.%n", mount.mountPoint);
                while (isMounted(mount.mountPoint)) {
                    Thread.sleep(POLL_PAUSE);
                }
            }
        } catch (IllegalArgumentException e) {
            System.err.println(MountOptions.usageError(e));
            System.exit(2);
        } catch (IOException | FuseMountFailedException | UnsatisfiedLinkError e) {
            System.err.println("jrdma volume mount: " + e.getMessage());
            System.exit(1);
        }
    }

    private void start(MountOptions options) throws FuseMountFailedException {
        // without timeouts, because other clients change attributes and names at any time; the
        // kernel then compares the time of modification before it reads from its cache
        var flags =
                "fsname=%s,subtype=%s,attr_timeout=0,entry_timeout=0,negative_timeout=0%s"
                        .formatted(
                                options.settings().servers().getFirst().getFirst(),
                                TYPE,
                                // a volume does not check permissions
                                options.isForAllUsers() ? ",allow_other,default_permissions" : "");
        fuse.mount(TYPE, mountPoint, "-o", flags);
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    /** Returns true if a volume is mounted at a real path. */
    static boolean isMounted(Path mountPoint) throws IOException {
        var name = mountPoint.toString().replace("\\", "\\134").replace(" ", "\\040");
        return Files.readAllLines(Path.of("/proc/self/mounts")).stream()
                .anyMatch(line -> line.contains(" %s fuse.%s ".formatted(name, TYPE)));
    }

    /**
     * Unmounts the volume if it is mounted, commits the written data, and ends the session. If a
     * process still uses a file, its later accesses fail.
     */
    @Override
    public synchronized void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        try {
            if (!isMounted(mountPoint) || unmount("-u")) {
                fuse.close();
            } else { // fuse.close() would free callbacks that threads of the library still use
                LOG.warn("{} is in use. Later accesses to its files fail.", mountPoint);
                var _ = unmount("-uz");
            }
        } catch (IOException | TimeoutException e) {
            LOG.warn("Cannot unmount {}", mountPoint, e);
        }
        client.close();
        drive.ifPresent(Drive::close);
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
