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

/** A directory in a place where anyone can make one. */
class FabricDirectoryTest {

    @Test
    void shouldBeMadeForThisUserAloneAndFoundAgain(@TempDir Path place) throws Exception {
        var path = place.resolve("fabric");

        FabricDirectory.open(path, true).close();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwx------");
        FabricDirectory.open(path, true).close();
    }

    @Test
    void shouldNotBeTakenWhereOthersHavePartInIt(@TempDir Path place) throws Exception {
        var open = Files.createDirectory(place.resolve("open"));
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
        var link = Files.createSymbolicLink(place.resolve("link"), place);

        for (var path : new Path[] {open, link}) {
            assertThatExceptionOfType(FabricException.class)
                    .isThrownBy(() -> FabricDirectory.open(path, true))
                    .withMessageStartingWith("%s is not this user's alone", path)
                    .withMessageEndingWith("by jrdma.sisci.fabric.");
        }
        FabricDirectory.open(open, false).close(); // somebody named it
    }

    @Test
    void shouldHaveToBeThisUsersOnlyWhereNobodyNamedIt() {
        assertThat(SoftSisciOptions.configured().isOfThisUser()).isTrue();
        assertThat(SoftSisciOptions.in(Path.of("/dev/shm/mine")).isOfThisUser()).isFalse();
    }
}
