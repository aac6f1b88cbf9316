package org.jrdma.sockets.report;

import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static java.nio.file.StandardOpenOption.CREATE_NEW;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.sockets.internal.FileErrors;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import org.slf4j.LoggerFactory;

/**
 * The file into which this process writes its {@link ConnectionsSnapshot}, on a daemon thread, and
 * once more when it ends in order. What cannot be written is said once in the log.
 */
final class ConnectionsFile {

    private static final Duration PAUSE = Duration.ofSeconds(2);

    private final Path file;
    private final Path fresh;

    // Guarded by this
    private boolean hasFailed;
    private boolean isOver;

    private ConnectionsFile(Path file) {
        this.file = file;
        this.fresh = file.resolveSibling(file.getFileName() + ".new");
    }

    /** If the system property asks for it. */
    static void startIfAsked() {
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
            write(true); // it ends already
            return;
        }
        Thread.ofPlatform().name("jrdma-sockets-report").daemon().start(this::writeAgainAndAgain);
    }

    private void writeAgainAndAgain() {
        try {
            while (true) {
                write(false);
                Thread.sleep(PAUSE);
            }
        } catch (InterruptedException _) {
            // nobody does so
        }
    }

    private synchronized void write(boolean isLast) {
        if (isOver) {
            return;
        }
        isOver = isLast;
        try {
            if (!Files.isDirectory(file.getParent())) {
                throw new NoSuchFileException(file.getParent().toString());
            }
            Files.deleteIfExists(fresh);
            Files.write( // never through a link that somebody has laid there
                    fresh, OpenStreams.snapshot(isLast).lines(), CREATE_NEW);
            Files.move(fresh, file, ATOMIC_MOVE, REPLACE_EXISTING);
            hasFailed = false;
        } catch (IOException e) {
            warn(FileErrors.reason(e));
        } catch (RuntimeException e) {
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
