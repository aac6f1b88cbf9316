package org.jrdma.nvme.soft;

import org.jrdma.nvme.model.Command;
import org.jrdma.nvme.model.Completion;
import org.jrdma.nvme.soft.TestBorrower.Memory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A started controller with a namespace of 4,096 blocks of 512 bytes. */
@Timeout(60)
abstract class ControllerTestBase {

    final BlockStorage storage = Harness.storage();
    final Subsystem subsystem = Harness.subsystem(storage);
    final Harness harness = new Harness(subsystem);
    final TestBorrower manager = harness.borrower(Harness.MANAGER);
    TestQueue admin;
    Memory page;

    @BeforeEach
    final void enable() {
        admin = harness.enable(manager);
        page = manager.allocate(TestBorrower.PAGE);
    }

    @AfterEach
    final void close() {
        harness.close();
        storage.close();
    }

    /** Executes an admin command with a page of data and three dwords. */
    final Completion admin(int opcode, int namespace, int dword10, int dword11, int dword12) {
        return admin.execute(
                Command.admin(opcode)
                        .withNamespace(namespace)
                        .withData(page.address(), 0)
                        .withDwords(dword10, dword11, dword12));
    }
}
