package org.jrdma.spark;

import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;

/**
 * Decides whether blocks may be transferred by RDMA in an application that protects its
 * connections. RDMA neither encrypts nor authenticates the blocks.
 */
final class UnprotectedTransferPolicy {

    private static final String IO_ENCRYPTION = "spark.io.encryption.enabled";

    private static final List<String> PROTECTIONS =
            List.of(
                    "spark.authenticate",
                    "spark.network.crypto.enabled",
                    "spark.authenticate.enableSaslEncryption",
                    "spark.ssl.enabled",
                    "spark.ssl.rpc.enabled");

    private UnprotectedTransferPolicy() {}

    /** Returns why blocks must not be transferred by RDMA; empty if this is allowed. */
    static Optional<String> objection(SparkConf conf) {
        if (conf.getBoolean(IO_ENCRYPTION, false)
                || conf.getBoolean(ShuffleSettings.ALLOW_UNPROTECTED, false)) {
            return Optional.empty();
        }
        return PROTECTIONS.stream()
                .filter(protection -> conf.getBoolean(protection, false))
                .findFirst()
                .map(protection ->
                        "%s is set, but RDMA does not protect shuffle blocks. Set %s=true to encrypt the blocks themselves, or %s=true if the RDMA network is trusted."
                                .formatted(
                                        protection,
                                        IO_ENCRYPTION,
                                        ShuffleSettings.ALLOW_UNPROTECTED));
    }
}
