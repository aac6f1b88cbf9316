package org.jrdma.tck.verbs;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jrdma.verbs.QueuePairOptions.rawPackets;

import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests features that only hardware adapters have. Other devices must reject each feature with an
 * exception that names the C function.
 */
class UnofferedTest {

    private final Fabric fabric = Fabric.underTest();
    private Device device;
    private ProtectionDomain domain;
    private QueuePair queuePair;

    @BeforeEach
    void open() throws VerbsException {
        fabric.needsLackOf(Feature.ADAPTERS_OFFERS);
        device = fabric.open();
        domain = device.newProtectionDomain();
        queuePair = domain.newQueuePair(QueuePairOptions.reliable(device.newCompletionQueue(16)));
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private Map<String, ThrowingCallable> callsByFunction() {
        return Map.ofEntries(
                entry("ibv_query_port_speed", () -> device.portSpeed(1)),
                entry("ibv_modify_qp_rate_limit", () -> queuePair.limitRate(RateLimit.NONE)),
                entry("ibv_query_ece", () -> queuePair.vendorOptions()),
                entry(
                        "ibv_set_ece",
                        () -> queuePair.vendorOptions(new ConnectionVendorOptions(1, 1))),
                entry("ibv_create_counters", () -> device.newFlowCounters()),
                entry(
                        "ibv_create_qp",
                        () -> domain.newQueuePair(rawPackets(device.newCompletionQueue(16)))),
                entry(
                        "ibv_reg_dmabuf_mr",
                        () -> domain.registerDmaBuf(0, 0, 4096, 0, Access.LOCAL_WRITE)),
                entry("ibv_reg_mr", () -> domain.registerAddressSpaceUnguarded(Access.LOCAL_WRITE)),
                entry(
                        "ibv_import_device",
                        () -> fabric.verbs().importDevice(device.commandDescriptor())),
                entry("ibv_import_pd", () -> device.importProtectionDomain(domain.handle())),
                entry("ibv_import_mr", () -> domain.importRegion(1, 0)),
                entry("ibv_import_dm", () -> device.importDeviceMemory(1, 4096)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ibv_query_port_speed",
                "ibv_modify_qp_rate_limit",
                "ibv_query_ece",
                "ibv_set_ece",
                "ibv_create_counters",
                "ibv_create_qp",
                "ibv_reg_dmabuf_mr",
                "ibv_reg_mr",
                "ibv_import_device",
                "ibv_import_pd",
                "ibv_import_mr",
                "ibv_import_dm"
            })
    void shouldNameTheFunctionOfAnUnsupportedFeature(String function) {
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(callsByFunction().get(function))
                .satisfies(e -> {
                    assertThat(e.function()).isEqualTo(function);
                    assertThat(e.code()).isIn(Errno.EOPNOTSUPP, Errno.EINVAL);
                });
    }
}
