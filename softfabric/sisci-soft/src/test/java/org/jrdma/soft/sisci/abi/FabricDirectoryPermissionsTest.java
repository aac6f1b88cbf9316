package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the permissions of the directory of a fabric. */
class FabricDirectoryPermissionsTest {

    private static final int RACES = 300;
    private static final Set<PosixFilePermission> ALL =
            PosixFilePermissions.fromString("rwxr-xr-x"); // Not reduced by the usual umask.

    @Test
    void shouldCreateAPrivateDirectoryAndOpenItAgain(@TempDir Path place) throws Exception {
        var path = place.resolve("fabric");

        FabricDirectory.open(path, true).close();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwx------");
        FabricDirectory.open(path, true).close();
    }

    @Test
    void shouldRejectADirectoryThatOthersCanAccess(@TempDir Path place) throws Exception {
        var open = Files.createDirectory(place.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        var link = Files.createSymbolicLink(place.resolve("link"), place);

        for (var path : new Path[] {open, link}) {
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> FabricDirectory.open(path, true))
                    .withMessageStartingWith("Cannot use the directory %s for the fabric", path)
                    .withMessageEndingWith("Set another directory with -Djrdma.sisci.fabric.");
        }
        // A directory that the user configured may be accessible to others.
        FabricDirectory.open(open, false).close();
    }

    /** Another user may create the directory between any two steps of this process. */
    @Test
    void shouldNotUseADirectoryThatAnotherUserCreatesAtTheSameTime(@TempDir Path place)
            throws Exception {
        for (var i = 0; i < RACES; i++) {
            var path = place.resolve("fabric" + i);
            var start = new CyclicBarrier(2);
            var other =
                    CompletableFuture.runAsync(
                            () -> createForAll(path, start),
                            task -> Thread.ofPlatform().start(task));
            start.await();
            try (var _ = FabricDirectory.open(path, true)) {
                assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                        .isEqualTo("rwx------");
            } catch (FabricException e) {
                assertThat(e).hasMessageStartingWith("Cannot use the directory");
            }
            other.join();
        }
    }

    private static void createForAll(Path path, CyclicBarrier start) {
        try {
            start.await();
            Files.createDirectory(path, PosixFilePermissions.asFileAttribute(ALL));
        } catch (IOException e) {
            // The fabric was created first.
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldRequireAPrivateDirectoryOnlyByDefault() {
        assertThat(SoftSisciOptions.configured().isDefaultFabric()).isTrue();
        assertThat(SoftSisciOptions.in(Path.of("/dev/shm/mine")).isDefaultFabric()).isFalse();
    }
}
