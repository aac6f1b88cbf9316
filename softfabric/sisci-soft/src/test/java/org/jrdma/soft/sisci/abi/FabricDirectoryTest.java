package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.control.FabricDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the permissions of the directory of a fabric. */
class FabricDirectoryTest {

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

    @Test
    void shouldRequireAPrivateDirectoryOnlyByDefault() {
        assertThat(SoftSisciOptions.configured().isDefaultFabric()).isTrue();
        assertThat(SoftSisciOptions.in(Path.of("/dev/shm/mine")).isDefaultFabric()).isFalse();
    }
}
