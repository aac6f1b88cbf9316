package org.jrdma.cli.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the search for JVMs, with a folder that simulates /proc. */
class JvmsTest {

    private static final int USER = 1000;

    @TempDir private Path proc;

    @BeforeEach
    void createThisProcess() throws IOException {
        process("self", "bash", "bash", USER, "1");
    }

    private void process(String pid, String name, String command, int user, String namespacePids)
            throws IOException {
        var folder = Files.createDirectory(proc.resolve(pid));
        Files.writeString(folder.resolve("comm"), name + "\n");
        Files.writeString(folder.resolve("cmdline"), command.replace(' ', '\0') + "\0");
        Files.writeString(
                folder.resolve("status"),
                "Name:\t%s\nUid:\t%2$d\t%2$d\t%2$d\t%2$d\nNSpid:\t%3$s\n"
                        .formatted(name, user, namespacePids));
    }

    private List<RunningJvm> all(Long... attachable) throws IOException {
        return new Jvms(proc).all(Set.of(attachable));
    }

    @Test
    void shouldFindJvmsThatTheJdkCannotAttachTo() throws Exception {
        process("7", "java", "/usr/bin/java -XX:+DisableAttachMechanism a.B", USER, "7");
        process("8", "main", "java a.C", USER, "8");
        process("9", "javac", "javac a/B.java", USER, "9");

        assertThat(all()).extracting(RunningJvm::pid).containsExactly(7L, 8L);
    }

    @Test
    void shouldFindOtherProgramsThatTheJdkCanAttachTo() throws Exception {
        process("7", "jsvc", "jsvc.exec a.B", USER, "7");

        assertThat(all(7L)).extracting(RunningJvm::pid).containsExactly(7L);
        assertThat(all()).isEmpty();
    }

    @Test
    void shouldReportOwnersAndContainers() throws Exception {
        process("7", "java", "java a.B", USER, "7");
        process("8", "java", "java a.B", 0, "8\t1");

        assertThat(all()).extracting(RunningJvm::isOfThisUser).containsExactly(true, false);
        assertThat(all()).extracting(RunningJvm::isContained).containsExactly(false, true);
    }

    @ParameterizedTest
    @CsvSource({
        "java -Xmx1g a.B c, a.B",
        "java -cp x:y --add-modules java.se a.B c, a.B",
        "java -Da=b -jar a.jar c, a.jar",
        "java -p x --enable-native-access=y -m a/a.B c, a/a.B",
        "java -p x --module a/a.B c, a/a.B",
        "java @options a.B, a.B",
        "java -version, ''",
        "java -cp, ''"
    })
    void shouldFindTheProgramInTheCommandLine(String command, String program) throws Exception {
        process("7", "java", command, USER, "7");

        assertThat(all()).extracting(RunningJvm::program).containsExactly(program);
    }

    @Test
    void shouldOmitAProcessThatEndsDuringTheSearch() throws Exception {
        Files.createDirectory(proc.resolve("7"));

        assertThat(all(7L)).isEmpty();
    }
}
