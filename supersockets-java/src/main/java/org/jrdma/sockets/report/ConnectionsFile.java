package org.jrdma.sockets.report;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE_NEW;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.sockets.internal.FileErrorReason;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import org.slf4j.LoggerFactory;

/**
 * Writes the {@link ConnectionsSnapshot} of this process into a file: periodically on a daemon
 * thread, and once more when the process exits. Consecutive failures are logged only once.
 */
final class ConnectionsFile {

    private static final Duration INTERVAL = Duration.ofSeconds(2);

    private final Path file;
    private final Path temporary;

    // Guarded by this
    private boolean hasFailed;
    private boolean isFinished;

    private ConnectionsFile(Path file) {
        this.file = file;
        this.temporary = file.resolveSibling(file.getFileName() + ".new");
    }

    static void startIfConfigured() {
        var name = System.getProperty(ConnectionsSnapshot.PROPERTY);
        if (name != null) {
            var pid = Long.toString(ProcessHandle.current().pid());
            new ConnectionsFile(Path.of(name.replace("%p", pid)).toAbsolutePath()).start();
        }
    }

    private void start() {
        try {
            Runtime.getRuntime()
                    .addShutdownHook(new Thread(() -> write(true), "jrdma-sockets-last-report"));
        } catch (IllegalStateException _) {
            write(true); // The JVM is already shutting down.
            return;
        }
        Thread.ofPlatform().name("jrdma-sockets-report").daemon().start(this::writePeriodically);
    }

    private void writePeriodically() {
        try {
            while (true) {
                try {
                    write(false);
                } catch (OutOfMemoryError e) {
                    // Even logging has failed. The next write tries again.
                }
                Thread.sleep(INTERVAL);
            }
        } catch (InterruptedException _) {
            // No thread interrupts this one.
        }
    }

    private synchronized void write(boolean isLast) {
        if (isFinished) {
            return;
        }
        isFinished = isLast;
        try {
            if (!Files.isDirectory(file.getParent())) {
                throw new NoSuchFileException(file.getParent().toString());
            }
            Files.deleteIfExists(temporary);
            // CREATE_NEW does not follow a symbolic link that another user may have created.
            Files.write(temporary, OpenStreams.snapshot(isLast).lines(), CREATE_NEW);
            Files.move(temporary, file, ATOMIC_MOVE, REPLACE_EXISTING);
            hasFailed = false;
        } catch (IOException e) {
            warn(FileErrorReason.reason(e));
        } catch (Throwable e) {
            warn(e.toString());
        }
    }

    private void warn(String reason) {
        if (!hasFailed) {
            hasFailed = true;
            LoggerFactory.getLogger(ConnectionsFile.class)
                    .warn(
                            "{}: {} cannot be written: {}",
                            ConnectionsSnapshot.PROPERTY,
                            file,
                            reason);
        }
    }
}
