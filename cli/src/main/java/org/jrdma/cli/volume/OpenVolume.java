package org.jrdma.cli.volume;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.volume.NodeSettings;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.ConnectionDescription;

/** A volume that a command uses, and its drive if there is a path to it. */
final class OpenVolume implements AutoCloseable {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final Optional<Drive> drive;
    private final Volume volume;

    private OpenVolume(Optional<Drive> drive, Volume volume) {
        this.drive = drive;
        this.volume = volume;
    }

    /**
     * Connects to the coordinator.
     *
     * @param servers the addresses of each server
     */
    static OpenVolume open(NodeSettings settings, List<List<String>> servers)
            throws FabricException {
        var drive =
                settings.drive().isPresent()
                        ? Optional.of(settings.drive().get().open())
                        : Optional.<Drive>empty();
        // another volume of this process has another name
        var name =
                "%s-%d-%d"
                        .formatted(
                                settings.nodeName(),
                                ProcessHandle.current().pid(),
                                NUMBER.incrementAndGet());
        var options =
                VolumeOptions.of(name, servers)
                        .node(settings.nodeOptions())
                        .retryTimeout(settings.retry());
        var notice = noticeLater(servers);
        try {
            return new OpenVolume(
                    drive, Volume.open(drive.isPresent() ? options.drive(drive.get()) : options));
        } catch (FabricTimeoutException e) {
            drive.ifPresent(Drive::close);
            throw new FabricTimeoutException(
                    "%s. %s".formatted(e.getMessage(), QueriedServer.HINT), e);
        } catch (FabricException | RuntimeException e) {
            drive.ifPresent(Drive::close);
            throw e;
        } finally {
            notice.cancel(false);
        }
    }

    /** Prints a notice after two seconds, unless the returned future is canceled before. */
    private static Future<?> noticeLater(List<List<String>> servers) {
        var addresses = servers.stream().map(server -> String.join("+", server)).toList();
        return CompletableFuture.runAsync(
                () ->
                        System.err.printf(
                                "Waiting for a coordinator at %s.%n", String.join(", ", addresses)),
                CompletableFuture.delayedExecutor(2, TimeUnit.SECONDS));
    }

    /** Returns the path to the data, such as direct, and why no preferred transport is used. */
    String dataPath() {
        return volume.state().data().connection().map(OpenVolume::redirection).orElse("direct");
    }

    static String redirection(ConnectionDescription connection) {
        var text = new StringBuilder("redirected over ").append(connection.description());
        connection.unused().forEach(reason -> text.append("; not ").append(reason));
        return text.toString();
    }

    Path path(String text) {
        return volume.path(text);
    }

    @Override
    public void close() {
        volume.close();
        drive.ifPresent(Drive::close);
    }
}
