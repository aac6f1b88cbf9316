package org.jrdma.ffi.doctor;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The firewall rules that {@code nft list ruleset} prints, and their effect on incoming RoCE
 * packets.
 */
final class FirewallRules {

    private static final int ROCE_PORT = 4791;

    private static final Pattern TABLE = Pattern.compile("table (.+) \\{");
    private static final Pattern CHAIN = Pattern.compile("chain (\\S+) \\{");
    private static final Pattern CALL = Pattern.compile("\\b(?:jump|goto) (\\S+)");
    private static final Pattern COUNTER = Pattern.compile("counter packets \\d+ bytes \\d+ ?");
    private static final Pattern PORTS =
            Pattern.compile("\\b(?:udp|th) dport (\\{[^}]*\\}|[\\d-]+)");
    private static final Pattern PORT = Pattern.compile("(\\d+)(?:-(\\d+))?");
    private static final Pattern REFUSAL = Pattern.compile("\\b(?:drop|reject)\\b");

    /** A chain, whose name is unique in its table. */
    private record Chain(String table, String name) {}

    private final Map<Chain, List<String>> chains = new LinkedHashMap<>();

    FirewallRules(List<String> lines) {
        var chain = new Chain("", "");
        for (var line : lines) {
            var rule = COUNTER.matcher(line.strip()).replaceAll("");
            var table = TABLE.matcher(rule);
            var head = CHAIN.matcher(rule);
            if (table.matches()) {
                chain = new Chain(table.group(1), "");
            } else if (head.matches()) {
                chain = new Chain(chain.table, head.group(1));
            } else {
                chains.computeIfAbsent(chain, _ -> new ArrayList<>()).add(rule);
            }
        }
    }

    /**
     * Returns the reason why RoCE packets are blocked. The result is empty if no rule blocks them,
     * or if the rules that do could not be interpreted.
     */
    Optional<String> blockedBy() {
        return chains.keySet().stream()
                .filter(chain -> rules(chain).anyMatch(rule -> rule.contains("hook input")))
                .flatMap(chain -> blockedBy(chain).stream())
                .findFirst();
    }

    /**
     * Returns the reason why a base chain with {@code hook input} blocks RoCE packets; empty if it
     * does not. A packet must be accepted by each base chain of this hook.
     */
    private Optional<String> blockedBy(Chain input) {
        var roceRules =
                called(input, false).stream()
                        .flatMap(this::rules)
                        .filter(FirewallRules::matchesRoce)
                        .toList();
        if (roceRules.stream().anyMatch(rule -> rule.contains("accept"))) {
            return Optional.empty();
        }
        if (roceRules.stream().anyMatch(rule -> REFUSAL.matcher(rule).find())) {
            return Optional.of("a rule blocks UDP port 4791");
        }
        return called(input, true).stream()
                        .flatMap(this::rules)
                        .anyMatch(FirewallRules::blocksByDefault)
                ? Optional.of("the rules block all ports by default and do not allow 4791")
                : Optional.empty();
    }

    private Stream<String> rules(Chain chain) {
        return chains.getOrDefault(chain, List.of()).stream();
    }

    /**
     * Returns the chains that a packet in {@code start} can be passed to, including {@code start}.
     * If {@code byAll} is true, returns only the chains to which every packet is passed.
     */
    private Set<Chain> called(Chain start, boolean byAll) {
        var reached = new LinkedHashSet<>(Set.of(start));
        var next = new ArrayDeque<>(reached);
        while (!next.isEmpty()) {
            rules(next.remove())
                    .map(CALL::matcher)
                    .filter(call -> call.find() && (!byAll || call.start() == 0))
                    .map(call -> new Chain(start.table, call.group(1)))
                    .filter(reached::add)
                    .forEach(next::add);
        }
        return reached;
    }

    private static boolean matchesRoce(String rule) {
        return PORTS.matcher(rule)
                .results()
                .flatMap(ports -> PORT.matcher(ports.group(1)).results())
                .anyMatch(port -> {
                    var first = Integer.parseInt(port.group(1));
                    var last = port.group(2) == null ? first : Integer.parseInt(port.group(2));
                    return first <= ROCE_PORT && ROCE_PORT <= last;
                });
    }

    private static boolean blocksByDefault(String rule) {
        return rule.contains("policy drop") || REFUSAL.matcher(rule).lookingAt();
    }
}
