package org.jrdma.tck.sisci.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.abi.testing.Missing.missing;

import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.tck.sisci.PeerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A fabric in a file system of 8 MiB, in a mount namespace of its own: within a user namespace, or
 * where there can be none, as root.
 */
@Timeout(60)
class FullFileSystemTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final int FIRST = 1;

    private static final List<List<String>> WAYS =
            List.of(
                    List.of("unshare", "--user", "--map-root-user", "--mount"),
                    List.of("unshare", "--mount"));

    private static final List<String> MOUNT_AND_RUN =
            List.of("sh", "-c", "mount -t tmpfs -o size=8m tmpfs \"$0\" && exec \"$@\"");

    private static List<String> inSmallFileSystem(
            List<String> way, String folder, List<String> command) {
        var all = new ArrayList<>(way);
        all.addAll(MOUNT_AND_RUN);
        all.add(folder);
        all.addAll(command);
        return all;
    }

    private static List<String> wayThatWorks(String folder) throws Exception {
        for (var way : WAYS) {
            var probe =
                    new ProcessBuilder(inSmallFileSystem(way, folder, List.of("true")))
                            .redirectErrorStream(true)
                            .redirectOutput(Redirect.DISCARD)
                            .start();
            if (probe.waitFor() == 0) {
                return way;
            }
        }
        throw missing("neither user namespaces nor root, to mount a small file system");
    }

    @Test
    void shouldHaveNoSpaceForSegmentsBeyondItAndKeepThoseWithin() throws Exception {
        var folder = Jvm.fabricFolder();
        var way = wayThatWorks(folder.toString());

        try (var peer =
                PeerProcess.start(
                        inSmallFileSystem(way, folder.toString(), Jvm.command(folder, 4, false)))) {
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
