package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests programs whose neighbors write, send and kill at random. */
@Tag("fuzz")
class HostileTest {

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");
    private static final long SEED = Long.getLong("jrdma.fuzz.seed", 1);
    private static final long WORDS = Long.getLong("jrdma.fuzz.words", QUICK ? 20_000 : 100_000);
    private static final long PACKETS =
            Long.getLong("jrdma.fuzz.packets", QUICK ? 20_000 : 200_000);
    private static final int KILLS = Integer.getInteger("jrdma.fuzz.kills", QUICK ? 2 : 10);
    private static final Duration TIMEOUT = Duration.ofMinutes(30);

    private Path fabric;
    private final List<Child> children = new ArrayList<>();

    @BeforeEach
    void createFabric() throws IOException {
        fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-fuzz");
    }

    @AfterEach
    void deleteFabric() throws Exception {
        for (var child : children) {
            child.process().destroyForcibly().waitFor();
        }
        ApiFuzzTest.deleteTree(fabric);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sisci", "sisci-sockets"})
    void shouldSurviveANeighborThatWritesToAllSegments(String target) throws Exception {
        var victim = victim("words-" + target, target);
        var neighbor =
                start(
                        "neighbor-" + target,
                        Neighbor.class,
                        "" + fabric,
                        "" + WORDS / 2,
                        "" + SEED,
                        "truncate");

        System.out.print(neighbor.awaitSuccess(TIMEOUT));
        stop(victim);
    }

    @Test
    void shouldSurviveForgedPackets() throws Exception {
        var victim = victim("packets", "roce");
        var address = victim.lineAfter("Address ");

        System.out.print(
                start("flood", Flood.class, address, "" + PACKETS, "" + SEED)
                        .awaitSuccess(TIMEOUT));
        stop(victim);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sisci", "sisci-sockets"})
    void shouldSurviveKilledNeighbors(String target) throws Exception {
        var survivor = victim("survivor-" + target, target);
        var random = new Random(SEED);
        for (var kill = 0; kill < KILLS / 2; kill++) {
            var neighbor = victim("killed-" + target, target);
            TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
            if (random.nextBoolean()) {
                neighbor.process().destroyForcibly();
            } else {
                neighbor.process().destroy(); // SIGTERM, while the program uses and closes objects
            }
            assertThat(neighbor.process().waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(neighbor.process().exitValue()).isIn(128 + 9, 128 + 15);
            assertThat(neighbor.output()).doesNotContain("FINDING");
        }
        System.out.printf("%s: %d neighbors killed%n", target, KILLS / 2);
        stop(survivor);
    }

    private Child victim(String name, String target) throws Exception {
        var child =
                start(
                        name,
                        Fuzz.class,
                        target,
                        "" + Long.MAX_VALUE,
                        "" + SEED,
                        "until-end-of-input");
        child.lineAfter("Address "); // waits until the program runs
        return child;
    }

    private Child start(String name, Class<?> main, String... arguments) throws IOException {
        var options = List.of("-Xmx256m", "-Djrdma.sisci.fabric=" + fabric);
        var child = Child.start(name, List.of(), options, main, List.of(arguments));
        children.add(child);
        return child;
    }

    private static void stop(Child victim) throws Exception {
        victim.process().getOutputStream().close();
        victim.awaitSuccess(Duration.ofMinutes(3));
    }
}
