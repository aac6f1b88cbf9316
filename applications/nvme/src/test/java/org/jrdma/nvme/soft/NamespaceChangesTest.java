package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.IdentifyController;
import org.jrdma.nvme.model.IdentifyNamespace;
import org.jrdma.nvme.model.IoOpcode;
import org.jrdma.nvme.model.LogPage;
import org.jrdma.nvme.model.SmartLog;
import org.jrdma.nvme.model.Status;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Namespaces that are added, resized and removed while a host uses the subsystem. */
class NamespaceChangesTest extends ControllerTestBase {

    private static final Command EVENT_REQUEST = Command.admin(AdminOpcode.ASYNC_EVENT_REQUEST);
    private static final int OTHER_BLOCKS = 64;
    private static final int PAGE_BYTES = 4096;

    private final BlockStorage other = BlockStorage.inMemory(OTHER_BLOCKS, PAGE_BYTES);
    private TestQueue queue;
    private Memory data;

    @TempDir Path folder;

    @BeforeEach
    void createQueue() {
        queue = harness.createQueue(admin, 1, 8, manager);
        data = manager.allocate(PAGE_BYTES);
    }

    @AfterEach
    void closeOther() {
        other.close();
    }

    private Status execute(int opcode, int namespace, long block) {
        return queue.status(
                Command.blocks(opcode, namespace, block, 1).withData(data.address(), 0));
    }

    private void enableNotices() {
        var completion =
                admin(
                        AdminOpcode.SET_FEATURES,
                        0,
                        FeatureId.ASYNC_EVENT_CONFIGURATION,
                        IdentifyController.NAMESPACE_NOTICES,
                        0);
        assertThat(completion.status()).isZero();
    }

    private List<Integer> changedNamespaces() {
        var dwords = PAGE_BYTES / Integer.BYTES;
        var completion =
                admin(
                        AdminOpcode.GET_LOG_PAGE,
                        -1,
                        LogPage.CHANGED_NAMESPACES | (dwords - 1) << 16,
                        0,
                        0);
        assertThat(completion.status()).isZero();
        var ids = new ArrayList<Integer>();
        for (var i = 0; i < dwords; i++) {
            var id = page.segment().getAtIndex(JAVA_INT, i);
            if (id != 0) {
                assertThat(ids).hasSize(i);
                ids.add(id);
            }
        }
        return ids;
    }

    private void assertEvent(int commandId) {
        var completion = admin.await();
        assertThat(completion.commandId()).isEqualTo(commandId);
        assertThat(completion.status()).isZero();
        assertThat(AsyncEvent.decode(completion.result())).isEqualTo(AsyncEvent.NAMESPACE_CHANGED);
    }

    private IdentifyNamespace identify(int namespace) {
        assertThat(admin(AdminOpcode.IDENTIFY, namespace, 0, 0, 0).status()).isZero();
        return IdentifyNamespace.decode(page.segment());
    }

    @Test
    void shouldReportEachChangeOnceUntilTheLogPageIsRead() throws IOException {
        enableNotices();
        admin.submit(EVENT_REQUEST.withId(1));
        assertThat(subsystem.addNamespace(other)).isEqualTo(2);
        assertEvent(1);
        admin.submit(EVENT_REQUEST.withId(2));
        subsystem.resizeNamespace(1, Harness.BLOCKS / 2);
        Harness.await(() -> identify(1).blocks() == Harness.BLOCKS / 2);
        assertThat(admin.hasCompletion()).isFalse();
        assertThat(changedNamespaces()).containsExactly(1, 2);
        assertThat(changedNamespaces()).isEmpty();
        assertThat(admin.hasCompletion()).as("an event of a change that was read").isFalse();

        subsystem.removeNamespace(2);
        assertEvent(2);
        assertThat(changedNamespaces()).containsExactly(2);
    }

    @Test
    void shouldReportNoEventToAHostThatHasNotAskedForIt() {
        admin.submit(EVENT_REQUEST.withId(1));
        var _ = subsystem.addNamespace(other);
        Harness.await(() -> !changedNamespaces().isEmpty());
        assertThat(admin.hasCompletion()).isFalse();
        enableNotices();
        subsystem.removeNamespace(2);
        assertEvent(1);
    }

    @Test
    void shouldForgetTheChangesOfAControllerThatIsReset() {
        enableNotices();
        admin.submit(EVENT_REQUEST.withId(1));
        var _ = subsystem.addNamespace(other);
        assertEvent(1);
        harness.disable();
        admin = harness.enable(manager);
        assertThat(changedNamespaces()).isEmpty();
    }

    @Test
    void shouldAccessAnAddedNamespace() {
        assertThat(execute(IoOpcode.WRITE, 2, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        var _ = subsystem.addNamespace(other);
        data.segment().fill((byte) 9);
        assertThat(execute(IoOpcode.WRITE, 2, OTHER_BLOCKS - 1)).isEqualTo(Status.SUCCESS);
        data.segment().fill((byte) 0);
        assertThat(execute(IoOpcode.READ, 2, OTHER_BLOCKS - 1)).isEqualTo(Status.SUCCESS);
        assertThat(data.segment().get(JAVA_BYTE, PAGE_BYTES - 1)).isEqualTo((byte) 9);
        assertThat(identify(2).blocks()).isEqualTo(OTHER_BLOCKS);
    }

    @Test
    void shouldRefuseCommandsForARemovedNamespaceAndNotUseItsIdAgain() {
        var _ = subsystem.addNamespace(other);
        subsystem.removeNamespace(1);
        assertThat(execute(IoOpcode.READ, 1, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(execute(IoOpcode.READ, 2, 0)).isEqualTo(Status.SUCCESS);
        assertThat(admin(AdminOpcode.IDENTIFY, 0, 2, 0, 0).status()).isZero();
        assertThat(page.segment().getAtIndex(JAVA_INT, 0)).isEqualTo(2);
        assertThat(page.segment().getAtIndex(JAVA_INT, 1)).isZero();
        var flush = Command.admin(IoOpcode.FLUSH).withNamespace(Command.ALL_NAMESPACES);
        assertThat(queue.status(flush)).isEqualTo(Status.SUCCESS);
        assertThat(subsystem.addNamespace(storage)).isEqualTo(3);
        assertThat(execute(IoOpcode.READ, 1, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(execute(IoOpcode.READ, 3, 0)).isEqualTo(Status.SUCCESS);
        subsystem.removeNamespace(2);
        subsystem.removeNamespace(3);
        assertThat(queue.status(flush)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldFindTheNamespacesBetweenRemovedOnes() {
        for (var i = 0; i < 6; i++) {
            var _ = subsystem.addNamespace(other);
        }
        for (var id : new int[] {1, 3, 4, 7}) {
            subsystem.removeNamespace(id);
        }
        assertThat(subsystem.namespaces()).extracting(Namespace::id).containsExactly(2, 5, 6);
        for (var id = -2; id < 9; id++) {
            var found = subsystem.namespace(id);
            assertThat(found == null ? -1 : found.id())
                    .isEqualTo(Set.of(2, 5, 6).contains(id) ? id : -1);
        }
        assertThat(subsystem.namespace(Integer.MIN_VALUE)).isNull();
        assertThat(subsystem.namespace(Integer.MAX_VALUE)).isNull();
        assertThat(subsystem.namespaceAfter(2)).extracting(Namespace::id).isEqualTo(5);
        assertThat(subsystem.namespaceAfter(6)).isNull();
    }

    /** Commands that arrive meanwhile have found the namespace, and wait for its lock. */
    @Test
    void shouldWaitForTheCommandsOfANamespaceBeforeItsRemoval() throws Exception {
        var lock = subsystem.namespaces().getFirst().lock(true);
        var isRemoved = new AtomicBoolean();
        var remover =
                Thread.ofPlatform()
                        .unstarted(() -> {
                            subsystem.removeNamespace(1);
                            isRemoved.set(true);
                        });
        lock.lock();
        try {
            remover.start();
            Harness.await(() -> remover.getState() == Thread.State.WAITING);
            queue.submit(
                    Command.blocks(IoOpcode.READ, 1, 0, 1).withData(data.address(), 0).withId(9));
            Harness.await(() -> controllerThread().getState() == Thread.State.WAITING);
            assertThat(isRemoved).isFalse();
        } finally {
            lock.unlock();
        }
        var completion = queue.await();
        assertThat(completion.commandId()).isEqualTo(9);
        assertThat(Status.of(completion.status())).contains(Status.INVALID_NAMESPACE);
        assertThat(remover.join(Duration.ofSeconds(20))).isTrue();
        assertThat(isRemoved).isTrue();
    }

    private static Thread controllerThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sisci-soft-device-jrdma test"))
                .findFirst()
                .orElseThrow();
    }

    /** The storage is closed at once, so a late command would report an error of the medium. */
    @Test
    void shouldExecuteNoCommandAfterTheRemoval() {
        var statuses = EnumSet.noneOf(Status.class);
        for (var round = 0; round < 300; round++) {
            var added = BlockStorage.inMemory(8, PAGE_BYTES);
            var id = subsystem.addNamespace(added);
            var remover =
                    Thread.ofPlatform()
                            .start(() -> {
                                subsystem.removeNamespace(id);
                                added.close();
                            });
            Status status;
            do {
                status = execute(IoOpcode.READ, id, 0);
                statuses.add(status);
            } while (status == Status.SUCCESS);
            Harness.await(() -> !remover.isAlive());
        }
        assertThat(statuses).isSubsetOf(Status.SUCCESS, Status.INVALID_NAMESPACE);
        assertThat(admin(AdminOpcode.GET_LOG_PAGE, -1, LogPage.SMART | 127 << 16, 0, 0).status())
                .isZero();
        assertThat(SmartLog.decode(page.segment()).mediaErrors()).isZero();
    }

    @Test
    void shouldMarkARemovedNamespaceForCommandsThatHaveFoundItBefore() throws Exception {
        var removed = subsystem.namespaces().getFirst();
        removed.requirePresent();
        subsystem.removeNamespace(1);
        assertThatThrownBy(removed::remove).isInstanceOf(IllegalArgumentException.class);
        assertThatExceptionOfType(CommandException.class)
                .isThrownBy(removed::requirePresent)
                .extracting(CommandException::status)
                .isEqualTo(Status.INVALID_NAMESPACE);
        assertThatThrownBy(() -> removed.resize(1)).isInstanceOf(IllegalArgumentException.class);
        storage.close();
        removed.flush(); // does not access the closed storage
    }

    @Test
    void shouldKeepTheBlocksOfAResizedNamespaceInMemory() throws IOException {
        var _ = subsystem.addNamespace(other);
        data.segment().fill((byte) 7);
        assertThat(execute(IoOpcode.WRITE, 2, 3)).isEqualTo(Status.SUCCESS);
        assertThat(execute(IoOpcode.WRITE, 2, OTHER_BLOCKS - 1)).isEqualTo(Status.SUCCESS);
        subsystem.resizeNamespace(2, 2 * OTHER_BLOCKS);
        assertBlock(3, 7);
        assertBlock(OTHER_BLOCKS - 1, 7);
        assertBlock(2 * OTHER_BLOCKS - 1, 0);
        assertThat(execute(IoOpcode.READ, 2, 2 * OTHER_BLOCKS)).isEqualTo(Status.LBA_OUT_OF_RANGE);
        subsystem.resizeNamespace(2, 4);
        assertBlock(3, 7);
        assertThat(execute(IoOpcode.READ, 2, 4)).isEqualTo(Status.LBA_OUT_OF_RANGE);
        assertThat(identify(2).blocks()).isEqualTo(4);
        subsystem.resizeNamespace(2, OTHER_BLOCKS);
        assertBlock(OTHER_BLOCKS - 1, 0);
    }

    private void assertBlock(long block, int value) {
        data.segment().fill((byte) 0x5a);
        assertThat(execute(IoOpcode.READ, 2, block)).isEqualTo(Status.SUCCESS);
        assertThat(data.segment().get(JAVA_BYTE, PAGE_BYTES - 1)).isEqualTo((byte) value);
    }

    /** Also if the path names another file by then. */
    @Test
    void shouldExtendTheFileOfANamespaceAndNotTruncateIt() throws IOException {
        var file = folder.resolve("blocks");
        try (var inFile = BlockStorage.inFile(file, 2, PAGE_BYTES)) {
            var _ = subsystem.addNamespace(inFile);
            data.segment().fill((byte) 7);
            assertThat(execute(IoOpcode.WRITE, 2, 1)).isEqualTo(Status.SUCCESS);
            var moved = Files.move(file, folder.resolve("moved"));
            Files.write(file, new byte[] {1});
            subsystem.resizeNamespace(2, 5);
            assertThat(moved).hasSize(5 * PAGE_BYTES);
            assertBlock(1, 7);
            data.segment().fill((byte) 8);
            assertThat(execute(IoOpcode.WRITE, 2, 4)).isEqualTo(Status.SUCCESS);
            assertThat(execute(IoOpcode.FLUSH, 2, 0)).isEqualTo(Status.SUCCESS);
            subsystem.resizeNamespace(2, 2);
            assertThat(execute(IoOpcode.READ, 2, 4)).isEqualTo(Status.LBA_OUT_OF_RANGE);
            assertThat(moved).hasSize(5 * PAGE_BYTES);
            subsystem.resizeNamespace(2, 5);
            assertBlock(4, 8);
            assertThat(file).hasSize(1);
            subsystem.removeNamespace(2);
        }
    }

    @Test
    void shouldRejectInvalidChangesAndKeepTheNamespace() throws IOException {
        for (var id : new int[] {-1, 0, 2, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> subsystem.removeNamespace(id))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has no namespace " + id);
            assertThatThrownBy(() -> subsystem.resizeNamespace(id, 5))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        for (var blocks : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> subsystem.resizeNamespace(1, blocks))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("blocks of 512 bytes");
        }
        assertThat(identify(1).blocks()).isEqualTo(Harness.BLOCKS);
        assertThat(execute(IoOpcode.READ, 1, Harness.BLOCKS - 1)).isEqualTo(Status.SUCCESS);
        assertThat(changedNamespaces()).isEmpty();

        var _ = subsystem.addNamespace(new VolatileStorage(4, PAGE_BYTES));
        assertThatThrownBy(() -> subsystem.resizeNamespace(2, 8))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("size of this storage is fixed");
        assertThat(execute(IoOpcode.READ, 2, 4)).isEqualTo(Status.LBA_OUT_OF_RANGE);
        var closed = BlockStorage.inMemory(4, PAGE_BYTES);
        var id = subsystem.addNamespace(closed);
        closed.close();
        assertThatThrownBy(() -> subsystem.resizeNamespace(id, 8))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void shouldLimitTheNamespacesOfASubsystem() {
        for (var id = 2; id <= 1024; id++) {
            assertThat(subsystem.addNamespace(other)).isEqualTo(id);
        }
        assertThat(admin(AdminOpcode.IDENTIFY, 0, 2, 0, 0).status()).isZero();
        assertThat(page.segment().getAtIndex(JAVA_INT, 1023)).isEqualTo(1024);
        Harness.await(() -> changedNamespaces().contains(1024));
        subsystem.removeNamespace(1024);
        assertThatThrownBy(() -> subsystem.addNamespace(other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has had 1024 of them");
        assertThat(subsystem.namespaces()).hasSize(1023);
    }
}
