package org.jrdma.tck.sisci.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.SisciError;
import org.jrdma.sisci.SisciException;
import org.jrdma.tck.sisci.PeerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A fabric in a file system of 8 MiB, in a mount namespace of its own, for which root is needed.
 */
@Timeout(60)
class FullFileSystemTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final int FIRST = 1;

    private static final List<String> IN_SMALL_FILE_SYSTEM =
            List.of(
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    "mount -t tmpfs -o size=8m tmpfs \"$0\" && exec \"$@\"");

    private static List<String> inSmallFileSystem(String folder, List<String> command) {
        var all = new ArrayList<>(IN_SMALL_FILE_SYSTEM);
        all.add(folder);
        all.addAll(command);
        return all;
    }

    @Test
    void shouldHaveNoSpaceForSegmentsBeyondItAndKeepThoseWithin() throws Exception {
        var folder = Jvm.fabricFolder();
        var probe =
                new ProcessBuilder(inSmallFileSystem(folder.toString(), List.of("true")))
                        .redirectErrorStream(true)
                        .redirectOutput(Redirect.DISCARD)
                        .start();
        assumeTrue(probe.waitFor() == 0, "a mount namespace needs root");

        try (var peer =
                PeerProcess.start(
                        inSmallFileSystem(folder.toString(), Jvm.command(folder, 4, false)))) {
            peer.tell(party -> {
                var node = party.node();
                noSpace(node, 100, 9 * MEBIBYTE);

                var segments = new ArrayDeque<LocalSegment>();
                while (segments.size() < 7) {
                    segments.add(node.newSegment(FIRST + segments.size(), MEBIBYTE));
                }
                noSpace(node, 100, 2 * MEBIBYTE);
                for (var segment : segments) {
                    var memory = segment.map().segment();
                    memory.fill((byte) segment.id()); // nothing of it is missing
                    assertThat(memory.getAtIndex(ValueLayout.JAVA_BYTE, 0))
                            .isEqualTo((byte) segment.id());
                }

                segments.removeLast().close();
                segments.removeLast().close();
                node.newSegment(100, 2 * MEBIBYTE).map().segment().fill((byte) 1);
            });
        }
    }

    private static void noSpace(Node node, int id, long bytes) {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newSegment(id, bytes))
                .extracting(SisciException::error)
                .isEqualTo(SisciError.NO_SPACE);
    }
}
