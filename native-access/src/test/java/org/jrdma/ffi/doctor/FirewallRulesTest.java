package org.jrdma.ffi.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FirewallRulesTest {

    private static final String BLOCKS_BY_DEFAULT =
            "the rules block all ports by default and do not allow 4791";

    /** Rules as written by firewalld. ALLOWED is a placeholder, which tests replace with a rule. */
    private static final String FIREWALLD =
            """
            table inet firewalld {
            \tchain filter_INPUT {
            \t\ttype filter hook input priority filter + 10; policy accept;
            \t\tct state { established, related } accept
            \t\tiifname "lo" accept
            \t\tct state invalid drop
            \t\tjump filter_INPUT_ZONES
            \t\treject with icmpx admin-prohibited
            \t}

            \tchain filter_INPUT_ZONES {
            \t\tiifname "eth0" goto filter_IN_public
            \t\tgoto filter_IN_public
            \t}

            \tchain filter_IN_public {
            \t\tjump filter_IN_public_allow
            \t}

            \tchain filter_IN_public_allow {
            \t\ttcp dport 22 accept
            \t\tALLOWED
            \t}
            }
            """;

    private static String input(String... rules) {
        return """
        table inet filter {
        \tchain input {
        \t\ttype filter hook input priority filter; policy accept;
        \t\t%s
        \t}
        }
        """
                .formatted(String.join("\n\t\t", rules));
    }

    private static String blockedBy(String rules) {
        return new FirewallRules(rules.lines().toList()).blockedBy().orElse("none");
    }

    @Test
    void shouldDetectAFinalRuleThatBlocksAllOtherPackets() {
        assertThat(blockedBy(FIREWALLD.replace("ALLOWED", "tcp dport 4791 accept")))
                .isEqualTo(BLOCKS_BY_DEFAULT);
        assertThat(blockedBy(input("counter packets 47912 bytes 4791 drop")))
                .isEqualTo(BLOCKS_BY_DEFAULT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "udp dport 4791 accept",
                "udp dport { 53, 4791 } counter packets 3 bytes 180 accept",
                "udp dport 4000-5000 accept",
                "meta l4proto udp th dport 4791 accept"
            })
    void shouldFindThePortAmongAllowedPorts(String rule) {
        assertThat(blockedBy(FIREWALLD.replace("ALLOWED", rule))).isEqualTo("none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "udp dport 47910 accept",
                "udp sport 4791 accept",
                "udp dport 53 counter packets 4791 bytes 4791 accept"
            })
    void shouldNotMistakeOtherNumbersForThePort(String rule) {
        assertThat(blockedBy(FIREWALLD.replace("ALLOWED", rule))).isEqualTo(BLOCKS_BY_DEFAULT);
    }

    @Test
    void shouldDetectARuleThatBlocksThePort() {
        assertThat(blockedBy(input("udp dport 4791 drop")))
                .isEqualTo("a rule blocks UDP port 4791");
        assertThat(blockedBy(input("udp dport 4791 reject")))
                .isEqualTo("a rule blocks UDP port 4791");
    }

    @Test
    void shouldIgnoreRulesForOtherPacketsAndOtherHooks() {
        assertThat(blockedBy(input("ct state invalid drop", "tcp dport 25 reject")))
                .isEqualTo("none");
        assertThat(blockedBy(input().replace("hook input", "hook forward") + "drop"))
                .isEqualTo("none");
        assertThat(blockedBy("")).isEqualTo("none");
    }

    @Test
    void shouldCheckTheChainsOfEachTable() {
        var open = input("udp dport 4791 accept", "drop");

        assertThat(blockedBy(open + open.replace("inet filter", "ip other").replace("47", "48")))
                .isEqualTo(BLOCKS_BY_DEFAULT);
    }
}
