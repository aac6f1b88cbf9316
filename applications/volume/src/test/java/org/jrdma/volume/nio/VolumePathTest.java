package org.jrdma.volume.nio;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.LocalCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares paths with those of the default file system, which has the same syntax on Linux. */
class VolumePathTest {

    private static final List<String> PATHS =
            List.of(
                    "",
                    "/",
                    "a",
                    "/a",
                    "a/b",
                    "/a/b",
                    "../a",
                    "/../a",
                    "a/./b",
                    "a/../b/..",
                    "//a//b/");

    private final LocalCluster cluster;
    private final VolumeFileSystem fileSystem;

    VolumePathTest() throws FabricException {
        cluster = new LocalCluster(1024, 1);
        fileSystem = new VolumeFileSystem("paths", cluster.newClient("client"), () -> {});
    }

    @AfterEach
    void close() {
        fileSystem.close();
        cluster.close();
    }

    private static String text(Path path) {
        return path == null ? "null" : path.toString();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "a",
                "/a",
                "a/b",
                "/a/b",
                "../a",
                "/../a",
                "a/./b",
                "a/../b/..",
                "//a//b/"
            })
    void shouldBehaveAsPathsOfTheDefaultFileSystem(String text) {
        var path = fileSystem.getPath(text);
        var expected = Path.of(text);

        assertThat(text(path)).isEqualTo(text(expected));
        assertThat(text(path.getFileName())).isEqualTo(text(expected.getFileName()));
        assertThat(text(path.getParent())).isEqualTo(text(expected.getParent()));
        assertThat(text(path.getRoot())).isEqualTo(text(expected.getRoot()));
        assertThat(path.getNameCount()).isEqualTo(expected.getNameCount());
        assertThat(text(path.normalize())).isEqualTo(text(expected.normalize()));
        for (var other : PATHS) {
            assertThat(text(path.resolve(other)))
                    .as("%s with %s", text, other)
                    .isEqualTo(text(expected.resolve(other)));
            assertThat(path.startsWith(fileSystem.getPath(other)))
                    .as("%s with %s", text, other)
                    .isEqualTo(expected.startsWith(Path.of(other)));
            assertThat(path.endsWith(fileSystem.getPath(other)))
                    .as("%s with %s", text, other)
                    .isEqualTo(expected.endsWith(Path.of(other)));
            if (path.isAbsolute() == fileSystem.getPath(other).isAbsolute()
                    && !other.contains("..")
                    && !text.contains("..")
                    && !other.contains("./")
                    && !text.contains("./")) {
                assertThat(text(path.relativize(fileSystem.getPath(other))))
                        .as("%s with %s", text, other)
                        .isEqualTo(text(expected.relativize(Path.of(other))));
            }
        }
    }
}
