package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.GidEntry;
import org.junit.jupiter.api.Test;

/**
 * Tests the SDK with older versions of the library, which lack some functions. Everything that does
 * not need these functions must work.
 */
class OlderLibraryTest {

    private final String deviceName = Fabric.underTest().deviceName();

    @Test
    void shouldReadTheGidTableEntryByEntryFromAnOlderLibrary() throws Exception {
        var older = AlteredLibrary.without("_ibv_query_gid_table", "_ibv_query_gid_ex").verbs();
        // Without these functions, the types and interfaces of GIDs are known only from sysfs.
        var unknownFields =
                Fabric.underTest().profile().has(Feature.SYSFS)
                        ? new String[0]
                        : new String[] {"type", "netDevice"};
        try (var whole = Fabric.underTest().open();
                var rowByRow = older.open(deviceName)) {
            assertThat(rowByRow.gids(1))
                    .usingRecursiveFieldByFieldElementComparatorIgnoringFields(unknownFields)
                    .isEqualTo(whole.gids(1))
                    .isNotEmpty();
            assertThat(rowByRow.chooseGid(1).best().map(GidEntry::index))
                    .isEqualTo(whole.chooseGid(1).best().map(GidEntry::index));
        }
    }

    @Test
    void shouldRegisterMemoryIfTheLibraryDoesNotSupportOptionalRights() throws Exception {
        var older = AlteredLibrary.without("ibv_reg_mr_iova2").verbs();
        try (var device = older.open(deviceName);
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(Access.LOCAL_WRITE, Access.RELAXED_ORDERING)) {
            assertThat(memory.region(4096).remoteKey()).isNotZero();
        }
    }

    @Test
    void shouldReportAnUnknownForkStatusIfTheLibraryDoesNotReportIt() throws Exception {
        var older = AlteredLibrary.without("ibv_is_fork_initialized").verbs();

        assertThat(older.forkStatus()).isEqualTo(ForkStatus.UNKNOWN);
    }

    @Test
    void shouldNameAMissingFunctionThatEveryVersionHas() {
        var broken = AlteredLibrary.without("ibv_alloc_pd");

        assertThatThrownBy(broken::verbs)
                .isInstanceOf(LibraryNotFoundException.class)
                .hasMessageContaining("ibv_alloc_pd");
    }

    @Test
    void shouldRejectCriticalCallsIntoALibraryThatMayCallJava() throws Exception {
        var provided = AlteredLibrary.without().verbs();

        assertThatThrownBy(() -> provided.open(deviceName, DeviceOpenOption.CRITICAL_CALLS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CRITICAL_CALLS");
    }
}
