package org.jrdma.nvme.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.nvme.model.AdminOpcode;
import org.jrdma.nvme.model.FeatureId;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Features of a controller, with each rejection. */
class FeaturesTest extends ControllerTestBase {

    private static final int SAVE = 1 << 31;
    private static final int ALL = -1;

    private Status set(int feature, int namespace, int value) {
        return Status.of(admin(AdminOpcode.SET_FEATURES, namespace, feature, value, 0).status())
                .orElseThrow();
    }

    private int get(int feature, int selection, int namespace, int part) {
        var completion =
                admin(AdminOpcode.GET_FEATURES, namespace, feature | selection << 8, part, 0);
        assertThat(Status.of(completion.status())).contains(Status.SUCCESS);
        return completion.result();
    }

    private Status getStatus(int feature, int selection, int namespace, int part) {
        var completion =
                admin(AdminOpcode.GET_FEATURES, namespace, feature | selection << 8, part, 0);
        return Status.of(completion.status()).orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 0, 0x7f000007, 0x8",
        "2, 0, 0x20, 0x1",
        "4, 343, 0x150, 0x10150",
        "6, 1, 0, 2",
        "8, 0, 0x1234, 0x10000",
        "9, 0, 0x10000, 65",
        "10, 0, 1, 2",
        "11, 0, 0x1ff, 0x200"
    })
    void shouldKeepTheValueOfAFeature(int feature, int initial, String valid, String invalid) {
        assertThat(get(feature, 0, 0, 0)).isEqualTo(initial);
        assertThat(set(feature, 0, Integer.decode(invalid))).isEqualTo(Status.INVALID_FIELD);
        assertThat(get(feature, 0, 0, 0)).isEqualTo(initial);
        assertThat(set(feature, ALL, Integer.decode(valid))).isEqualTo(Status.SUCCESS);
        assertThat(get(feature, 0, 0, 0)).isEqualTo(Integer.decode(valid));
        assertThat(get(feature, 1, 0, 0)).isEqualTo(initial);
        assertThat(get(feature, 2, 0, 0)).isEqualTo(initial);
        assertThat(get(feature, 3, 0, 0)).isEqualTo(4);
        assertThat(getStatus(feature, 4, 0, 0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(set(feature | SAVE, 0, initial)).isEqualTo(Status.FEATURE_NOT_SAVEABLE);
        assertThat(set(feature, 1, initial)).isEqualTo(Status.FEATURE_NOT_NAMESPACE_SPECIFIC);
        harness.disable();
        admin = harness.enable(manager);
        assertThat(get(feature, 0, 0, 0)).isEqualTo(initial);
    }

    @ParameterizedTest
    @CsvSource({"5, 0xffff, 0x10000, 4", "0x82, 0xe, 1, 4", "0x83, 0, 1, 0"})
    void shouldKeepTheValueOfAFeatureOfANamespace(
            String id, String valid, String invalid, int changeable) {
        int feature = Integer.decode(id);
        assertThat(get(feature, 0, 1, 0)).isZero();
        assertThat(set(feature, 1, Integer.decode(invalid))).isEqualTo(Status.INVALID_FIELD);
        assertThat(set(feature, 1, Integer.decode(valid))).isEqualTo(Status.SUCCESS);
        assertThat(get(feature, 0, 1, 0)).isEqualTo(Integer.decode(valid));
        assertThat(set(feature, ALL, 0)).isEqualTo(Status.SUCCESS);
        assertThat(get(feature, 0, 1, 0)).isZero();
        assertThat(get(feature, 3, 1, 0)).isEqualTo(2 | changeable);
        assertThat(set(feature, 0, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(set(feature, 2, 0)).isEqualTo(Status.INVALID_NAMESPACE);
        assertThat(getStatus(feature, 0, 2, 0)).isEqualTo(Status.INVALID_NAMESPACE);
    }

    @ParameterizedTest
    @CsvSource({"0", "3", "0xc", "0x0f", "0x10", "0x7e", "0x80", "0xff"})
    void shouldRejectUnknownFeatures(String id) {
        int feature = Integer.decode(id);
        assertThat(set(feature, 0, 0)).isEqualTo(Status.INVALID_FIELD);
        assertThat(getStatus(feature, 0, 1, 0)).isEqualTo(Status.INVALID_FIELD);
    }

    @Test
    void shouldGrantQueuesBeforeTheFirstIsCreated() {
        assertThat(get(FeatureId.NUMBER_OF_QUEUES, 0, 0, 0)).isEqualTo(0x3f_003f);
        assertThat(set(FeatureId.NUMBER_OF_QUEUES, 0, 0xffff)).isEqualTo(Status.INVALID_FIELD);
        assertThat(set(FeatureId.NUMBER_OF_QUEUES, 0, 0xffff_0000)).isEqualTo(Status.INVALID_FIELD);
        assertThat(admin(AdminOpcode.SET_FEATURES, 0, 7, 0x1_0001, 0).result()).isEqualTo(0x1_0001);
        assertThat(get(FeatureId.NUMBER_OF_QUEUES, 0, 0, 0)).isEqualTo(0x1_0001);
        assertThat(get(FeatureId.NUMBER_OF_QUEUES, 1, 0, 0)).isEqualTo(0x3f_003f);
        assertThat(admin.status(Harness.createCompletionQueue(3, 8, page.address())))
                .isEqualTo(Status.INVALID_QUEUE_ID);
        assertThat(admin(AdminOpcode.SET_FEATURES, 0, 7, 0xfff0_fff0, 0).result())
                .isEqualTo(0x3f_003f);
        var _ = harness.createQueue(admin, 3, 8, manager);
        assertThat(set(FeatureId.NUMBER_OF_QUEUES, 0, 0)).isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
    }

    @Test
    void shouldSetTheHostIdentifierOnceAfterAReset() {
        var feature = FeatureId.HOST_IDENTIFIER;
        page.segment().set(JAVA_LONG, 0, 42);
        assertThat(set(feature, 0, 0)).isEqualTo(Status.SUCCESS);
        assertThat(set(feature, 0, 0)).isEqualTo(Status.SUCCESS);
        page.segment().set(JAVA_LONG, 0, 43);
        assertThat(set(feature, 0, 0)).isEqualTo(Status.COMMAND_SEQUENCE_ERROR);
        assertThat(get(feature, 0, 0, 0)).isZero();
        assertThat(page.segment().get(JAVA_LONG, 0)).isEqualTo(42);
        assertThat(get(feature, 1, 0, 0)).isZero();
        assertThat(page.segment().get(JAVA_LONG, 0)).isZero();
        assertThat(set(feature, 1, 0)).isEqualTo(Status.FEATURE_NOT_NAMESPACE_SPECIFIC);
        harness.disable();
        admin = harness.enable(manager);
        page.segment().set(JAVA_LONG, 0, 43);
        page.segment().set(JAVA_LONG, 8, 1);
        assertThat(set(feature, 0, 1)).isEqualTo(Status.SUCCESS);
        assertThat(getStatus(feature, 0, 0, 0)).isEqualTo(Status.HOST_IDENTIFIER_FORMAT);
        page.segment().fill((byte) 0);
        assertThat(get(feature, 0, 0, 1)).isZero();
        assertThat(page.segment().get(JAVA_LONG, 8)).isEqualTo(1);
    }

    @Test
    void shouldKeepATemperatureThresholdForEachDirection() {
        var under = 1 << 20;
        assertThat(set(FeatureId.TEMPERATURE_THRESHOLD, 0, under | 200)).isEqualTo(Status.SUCCESS);
        assertThat(get(FeatureId.TEMPERATURE_THRESHOLD, 0, 0, under)).isEqualTo(200);
        assertThat(get(FeatureId.TEMPERATURE_THRESHOLD, 0, 0, 0)).isEqualTo(343);
        assertThat(set(FeatureId.TEMPERATURE_THRESHOLD, 0, 2 << 20))
                .isEqualTo(Status.INVALID_FIELD);
        assertThat(set(FeatureId.TEMPERATURE_THRESHOLD, 0, 1 << 22))
                .isEqualTo(Status.INVALID_FIELD);
    }

    @Test
    void shouldConfigureEachInterruptVector() {
        assertThat(set(FeatureId.INTERRUPT_VECTOR, 0, 0x1_0040)).isEqualTo(Status.SUCCESS);
        assertThat(get(FeatureId.INTERRUPT_VECTOR, 0, 0, 64)).isEqualTo(0x1_0040);
        assertThat(get(FeatureId.INTERRUPT_VECTOR, 0, 0, 63)).isEqualTo(63);
        assertThat(getStatus(FeatureId.INTERRUPT_VECTOR, 0, 0, 65)).isEqualTo(Status.INVALID_FIELD);
    }
}
