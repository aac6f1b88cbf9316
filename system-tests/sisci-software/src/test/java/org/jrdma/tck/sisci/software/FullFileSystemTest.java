package org.jrdma.tck.sisci.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

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
 * Tests a fabric in a file system of 8 MiB. The file system is mounted in a separate mount
 * namespace, which requires user namespaces or root privileges.
 */
@Timeout(60)
class FullFileSystemTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final int FIRST_SEGMENT = 1;

    private static final List<List<String>> NAMESPACE_COMMANDS =
            List.of(
                    List.of("unshare", "--user", "--map-root-user", "--mount"),
                    List.of("unshare", "--mount"));

    private static final List<String> MOUNT_AND_RUN =
            List.of("sh", "-c", "mount -t tmpfs -o size=8m tmpfs \"$0\" && exec \"$@\"");

    private static List<String> inSmallFileSystem(
            List<String> namespaceCommand, String folder, List<String> command) {
        var all = new ArrayList<>(namespaceCommand);
        all.addAll(MOUNT_AND_RUN);
        all.add(folder);
        all.addAll(command);
        return all;
    }

    private static List<String> supportedNamespaceCommand(String folder) throws Exception {
        for (var candidate : NAMESPACE_COMMANDS) {
            var probe =
                    new ProcessBuilder(inSmallFileSystem(candidate, folder, List.of("true")))
                            .redirectErrorStream(true)
                            .redirectOutput(Redirect.DISCARD)
                            .start();
            if (probe.waitFor() == 0) {
                return candidate;
            }
        }
        throw missing("Mounting a small file system requires user namespaces or root.");
    }

    @Test
    void shouldRejectASegmentThatDoesNotFitIntoTheFileSystemAndKeepExistingOnes() throws Exception {
        var folder = FabricProcesses.fabricFolder();
        var namespaceCommand = supportedNamespaceCommand(folder.toString());

        try (var peer =
                PeerProcess.start(
                        inSmallFileSystem(
                                namespaceCommand,
                                folder.toString(),
                                FabricProcesses.command(folder, 4, false)))) {
            peer.run(context -> {
                var node = context.node();
                assertNoSpace(node, 100, 9 * MEBIBYTE);

                var segments = new ArrayDeque<LocalSegment>();
                while (segments.size() < 7) {
                    segments.add(node.newSegment(FIRST_SEGMENT + segments.size(), MEBIBYTE));
                }
                assertNoSpace(node, 100, 2 * MEBIBYTE);
                for (var segment : segments) {
                    var memory = segment.map().segment();
                    memory.fill((byte) segment.id()); // would crash if a page were not allocated
                    assertThat(memory.getAtIndex(ValueLayout.JAVA_BYTE, 0))
                            .isEqualTo((byte) segment.id());
                }

                segments.removeLast().close();
                segments.removeLast().close();
                node.newSegment(100, 2 * MEBIBYTE).map().segment().fill((byte) 1);
            });
        }
    }

    private static void assertNoSpace(Node node, int id, long bytes) {
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newSegment(id, bytes))
                .extracting(SisciException::error)
                .isEqualTo(SisciError.NO_SPACE);
    }
}
