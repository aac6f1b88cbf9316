package org.jrdma.abi.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jrdma.abi.testing.Command;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code headers/regenerate} with a fake jextract that writes the committed code. */
class RegenerateScriptTest {

    @TempDir private Path folder;

    @BeforeEach
    void checkTools() throws Exception {
        for (var tool : List.of("bash", "perl", "diff", "sha256sum")) {
            if (Command.run(Map.of(), "/bin/sh", "-c", "command -v " + tool).exitCode() != 0) {
                throw missing(tool + " is not installed");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "clang version 12.0.1",
                "clang version 16.0.0",
                "Debian clang version 19.1.7",
                "an unknown library"
            })
    void shouldRejectALibclangWithWhichJextractGeneratesWrongCode(String version) throws Exception {
        installJextract(version, "echo it ran");

        var result = regenerate();

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.output()).contains("libclang").doesNotContain("it ran");
    }

    @ParameterizedTest
    @ValueSource(strings = {"clang version 13.0.0", "Debian clang version 15.0.6"})
    void shouldReportADifferenceWithoutTheCComments(String version) throws Exception {
        installJextract(
                version,
                """
                cat >>"$generated/ibv_pd.java" <<END
                /**
                 * struct added by C
                 */
                class added {} // by C
                END
                """);

        var result = regenerate();

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.output()).contains("> class added {}").doesNotContain("by C");
    }

    @Test
    void shouldRejectAResultWithoutARequestedName() throws Exception {
        installJextract(
                "clang version 14.0.6",
                "sed -i /IBV_WC_TM_RNDV_INCOMPLETE/d \"$generated/rdma_h.java\"");

        var result = regenerate();

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.output())
                .endsWith("do not declare these names: IBV_WC_TM_RNDV_INCOMPLETE\n");
    }

    private void installJextract(String version, String change) throws IOException {
        var script =
                """
                #!/bin/bash
                [[ $1 == --version ]] && echo "LibClang version %s" && exit
                while [[ $1 != --output ]]; do shift; done
                cp -r src/main/java/. "$2"
                generated=$2/org/jrdma/abi/rdma
                %s
                """
                        .formatted(version, change);
        var jextract = Files.createDirectories(folder.resolve("bin")).resolve("jextract");
        Files.writeString(jextract, script);
        assertThat(jextract.toFile().setExecutable(true)).isTrue();
    }

    private Command regenerate() throws IOException, InterruptedException {
        for (var line : Files.readAllLines(Path.of("headers.sha256"))) {
            var header = folder.resolve(line.substring(line.indexOf("  ") + 2));
            Files.createDirectories(header.getParent());
            Files.writeString(header, "");
        }
        return Command.run(
                Map.of("JEXTRACT_HOME", folder.toString(), "RDMA_HEADERS", folder.toString()),
                "../regenerate");
    }
}
