package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;
import org.jrdma.soft.sisci.control.Message.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests processes without free memory or descriptors. */
@Timeout(60)
class ScarceResourcesTest {

    private static final long MEASURED_MILLIS = 500;

    private static List<String> command(
            Class<?> main, String shell, Path fabric, String... options) {
        var command =
                new ArrayList<>(
                        List.of(
                                "sh",
                                "-c",
                                shell + "exec \"$0\" \"$@\"",
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", Peer.classPath(), main.getName(), fabric.toString()));
        return command;
    }

    @Test
    void shouldReturnErrorCodesWhileTheHeapIsFull(@TempDir Path fabric) throws Exception {
        try (var program = Program.start(command(FullHeap.class, "", fabric, "-Xmx16m"))) {
            assertThat(program.await()).as(program.output()).isZero();

            assertThat(program.output()).containsPattern("errors: [1-9]");
        }
    }

    /**
     * Returns the processor time of the thread that receives messages, in units of 10 ms. Linux
     * truncates the name of the thread.
     */
    private static long processorTicks(Process process) throws IOException {
        try (var threads = Files.list(Path.of("/proc/%d/task".formatted(process.pid())))) {
            for (var thread : threads.toList()) {
                var text = Files.readString(thread.resolve("stat"));
                if (text.contains("(sisci-soft-node)")) {
                    var fields = text.substring(text.indexOf(')') + 2).split(" ", -1);
                    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
                }
            }
        }
        throw new AssertionError("no thread receives messages");
    }

    /** The listening socket stays readable while a connection cannot be accepted. */
    @Test
    void shouldNotSpinWhileItHasNoDescriptorForAConnection(@TempDir Path fabric) throws Exception {
        var process =
                new ProcessBuilder(command(FullDescriptorTable.class, "ulimit -n 200; ", fabric))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        try (var output = process.inputReader();
                var input = process.outputWriter()) {
            assertThat(output.readLine()).isEqualTo("full");
            var connecting = new RawProcess(fabric, 4);

            var before = processorTicks(process);
            Thread.sleep(MEASURED_MILLIS);
            assertThat(processorTicks(process) - before).isLessThan(MEASURED_MILLIS / 100);

            input.write("free\n");
            input.flush();
            assertThat(connecting.hello(8).request(Kind.REFRESH, 0, 0, 0, 0)).isEqualTo("OK");
            connecting.close();
        } finally {
            process.destroyForcibly();
        }
    }
}
