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

/** The effect of the rules that nft lists on incoming RoCE packets. */
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
     * The reason why RoCE packets are blocked; empty if no rule that could be interpreted blocks
     * them.
     */
    Optional<String> blockedBy() {
        return chains.keySet().stream()
                .filter(chain -> rules(chain).anyMatch(rule -> rule.contains("hook input")))
                .flatMap(chain -> blockedBy(chain).stream())
                .findFirst();
    }

    /**
     * The reason why one chain of the hook blocks RoCE packets. A packet must pass all chains of
     * the hook.
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
     * The chains that a packet can reach from one chain; only those that every packet reaches, if
     * {@code byAll}.
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
