package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class VolumeLocationTest {

    @ParameterizedTest
    @CsvSource({
        "a:/b, sockets:a:7471, /b",
        "a:1:/, sockets:a:1, /",
        "[::1]:1:/b, sockets:[::1]:1, /b",
        "verbs:10.0.0.1:5:/b c:/d, verbs:10.0.0.1:5, /b c:/d",
        "jrdma-volume://a:1/b%20c, sockets:a:1, /b c",
        "jrdma-volume://a:1, sockets:a:1, /"
    })
    void shouldParseAServerAndAPath(String text, String server, String path) {
        assertThat(VolumeFileLocation.parse(text))
                .contains(new VolumeFileLocation(Optional.of(List.of(List.of(server))), path));
    }

    @Test
    void shouldParseSeveralServers() {
        var servers = List.of(List.of("sockets:a:1"), List.of("sockets:b:7471"));

        assertThat(VolumeFileLocation.parse("a:1,b:/x"))
                .contains(new VolumeFileLocation(Optional.of(servers), "/x"));
        assertThat(VolumeFileLocation.parse("jrdma-volume://a:1,b/x"))
                .contains(new VolumeFileLocation(Optional.of(servers), "/x"));
    }

    @Test
    void shouldUseTheServersOfTheSettingsIfThereAreNoOthers() {
        assertThat(VolumeFileLocation.parse(":/x"))
                .contains(new VolumeFileLocation(Optional.empty(), "/x"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "/a", "a:b", "./a:/b", "/a:/b", "", ":"})
    void shouldLeaveLocalFilesToTheCaller(String text) {
        assertThat(VolumeFileLocation.parse(text)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a:b:/c",
                "a,:/c",
                "jrdma-volume:/a",
                "jrdma-volume://a/b?c",
                "jrdma-volume://a b/",
                "jrdma-volume://a:x/"
            })
    void shouldRejectAnInvalidServerOrUri(String text) {
        assertThatThrownBy(() -> VolumeFileLocation.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("\"");
    }
}
