package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DriveNameTest {

    @TempDir private Path folder;

    private FileDrive create(DriveName name) throws FabricException {
        return FileDrive.create(Path.of(name.text()), 20);
    }

    @Test
    void shouldNameAFileADeviceOrAGroup() {
        assertThat(new DriveName("0x401").isDevice()).isTrue();
        assertThat(new DriveName("./stripes:a,b").isStriped()).isFalse();
        assertThat(new DriveName("stripes:0x401,b").members())
                .containsExactly(new DriveName("0x401"), new DriveName("b"));
        assertThat(new DriveName("mirror:a").isMirrored()).isTrue();
        assertThat(new DriveName("a,b").members()).containsExactly(new DriveName("a,b"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"stripes:", "mirror:a,", "mirror:a,a", "stripes:a,mirror:b,c"})
    void shouldRejectNamesThatAreNotDifferentDrives(String text) {
        assertThatThrownBy(() -> new DriveName(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("\"%s\" does not name different drives".formatted(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"stripes", "mirror"})
    void shouldCreateAndOpenAGroup(String kind) throws FabricException {
        var name = new DriveName("%s:%s/one,%s/two".formatted(kind, folder, folder));
        long blocks;
        try (var created = name.create(this::create, 4)) {
            blocks = created.blocks();
        }
        try (var opened = name.open()) {
            assertThat(opened.blocks())
                    .isEqualTo(blocks)
                    .isEqualTo("mirror".equals(kind) ? 19 : 32);
        }
    }

    @Test
    void shouldOpenAnIncompleteMirrorOnly() throws FabricException {
        var name = new DriveName("mirror:%s/one,%s/two".formatted(folder, folder));
        name.create(this::create, 1).close();

        try (var mirror = new DriveName("mirror:%s/two".formatted(folder)).openIncompleteMirror()) {
            assertThat(mirror.blocks()).isEqualTo(19);
        }
        assertThatThrownBy(() -> new DriveName(folder + "/two").openIncompleteMirror())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("\"%s/two\" is not a mirror, such as mirror:0x401".formatted(folder));
    }

    @Test
    void shouldCloseTheDrivesOfAGroupThatCannotBeOpened() throws FabricException {
        var one = new DriveName(folder + "/one");
        create(one).close();
        var opened = new java.util.ArrayList<Drive>();

        assertThatThrownBy(() ->
                        new DriveName("mirror:%s/one,%s/missing".formatted(folder, folder))
                                .create(
                                        name -> {
                                            var drive = name.open();
                                            opened.add(drive);
                                            return drive;
                                        },
                                        1))
                .isInstanceOf(FabricException.class);

        assertThat(opened).hasSize(1);
        assertThatThrownBy(() -> opened.getFirst().flush())
                .isInstanceOf(IllegalStateException.class);
    }
}
