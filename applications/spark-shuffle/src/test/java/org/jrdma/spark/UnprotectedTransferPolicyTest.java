package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnprotectedTransferPolicyTest {

    private final SparkConf conf = new SparkConf(false);

    @Test
    void shouldAllowRdmaIfNothingIsProtected() {
        assertThat(UnprotectedTransferPolicy.objection(conf)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spark.authenticate",
                "spark.network.crypto.enabled",
                "spark.ssl.enabled",
                "spark.ssl.rpc.enabled"
            })
    void shouldRefuseRdmaUnlessBlocksAreEncryptedOrTheUserAllowsIt(String protection) {
        conf.set(protection, "true");
        assertThat(UnprotectedTransferPolicy.objection(conf))
                .hasValueSatisfying(text -> assertThat(text).contains(protection));

        assertThat(
                        UnprotectedTransferPolicy.objection(
                                conf.clone().set("spark.io.encryption.enabled", "true")))
                .isEmpty();
        assertThat(
                        UnprotectedTransferPolicy.objection(
                                conf.clone().set("spark.jrdma.shuffle.allowUnprotected", "true")))
                .isEmpty();
    }
}
