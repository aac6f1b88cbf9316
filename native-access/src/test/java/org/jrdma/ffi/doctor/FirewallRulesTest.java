package org.jrdma.ffi.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FirewallRulesTest {

    private static final String REJECTS_THE_REST = "lets in only what it lists, and lists no 4791";

    /** As firewalld writes them; ALLOWED stands for the ports that its user has opened. */
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

    private static String objection(String rules) {
        return new FirewallRules(rules.lines().toList()).objection().orElse("none");
    }

    @Test
    void shouldSeeThatTheLastRuleRefusesWhatNoOtherAccepts() {
        assertThat(objection(FIREWALLD.replace("ALLOWED", "tcp dport 4791 accept")))
                .isEqualTo(REJECTS_THE_REST);
        assertThat(objection(input("counter packets 47912 bytes 4791 drop")))
                .isEqualTo(REJECTS_THE_REST);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "udp dport 4791 accept",
                "udp dport { 53, 4791 } counter packets 3 bytes 180 accept",
                "udp dport 4000-5000 accept",
                "meta l4proto udp th dport 4791 accept"
            })
    void shouldFindThePortAmongThoseThatAreOpen(String rule) {
        assertThat(objection(FIREWALLD.replace("ALLOWED", rule))).isEqualTo("none");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "udp dport 47910 accept",
                "udp sport 4791 accept",
                "udp dport 53 counter packets 4791 bytes 4791 accept"
            })
    void shouldNotTakeOtherNumbersForThePort(String rule) {
        assertThat(objection(FIREWALLD.replace("ALLOWED", rule))).isEqualTo(REJECTS_THE_REST);
    }

    @Test
    void shouldSeeThatThePortItselfIsRefused() {
        assertThat(objection(input("udp dport 4791 drop"))).isEqualTo("turns UDP port 4791 away");
        assertThat(objection(input("udp dport 4791 reject"))).isEqualTo("turns UDP port 4791 away");
    }

    @Test
    void shouldNotMindRulesForOtherPacketsAndOtherHooks() {
        assertThat(objection(input("ct state invalid drop", "tcp dport 25 reject")))
                .isEqualTo("none");
        assertThat(objection(input().replace("hook input", "hook forward") + "drop"))
                .isEqualTo("none");
        assertThat(objection("")).isEqualTo("none");
    }

    @Test
    void shouldAskTheChainsOfEachTable() {
        var open = input("udp dport 4791 accept", "drop");

        assertThat(objection(open + open.replace("inet filter", "ip other").replace("47", "48")))
                .isEqualTo(REJECTS_THE_REST);
    }
}
