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

/** What nft's rules, as it lists them, do with packets of RoCE that come in. */
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

    /** A chain, whose name is its own in its table only. */
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

    /** Why they do not get in; empty where no rule that can be read speaks against it. */
    Optional<String> objection() {
        return chains.keySet().stream()
                .filter(chain -> rules(chain).anyMatch(rule -> rule.contains("hook input")))
                .flatMap(chain -> objection(chain).stream())
                .findFirst();
    }

    /** Of one chain of the hook; a packet has to get through all of them. */
    private Optional<String> objection(Chain input) {
        var ofRoce =
                called(input, false).stream()
                        .flatMap(this::rules)
                        .filter(FirewallRules::isOfRoce)
                        .toList();
        if (ofRoce.stream().anyMatch(rule -> rule.contains("accept"))) {
            return Optional.empty();
        }
        if (ofRoce.stream().anyMatch(rule -> REFUSAL.matcher(rule).find())) {
            return Optional.of("turns UDP port 4791 away");
        }
        return called(input, true).stream()
                        .flatMap(this::rules)
                        .anyMatch(FirewallRules::refusesTheRest)
                ? Optional.of("lets in only what it lists, and lists no 4791")
                : Optional.empty();
    }

    private Stream<String> rules(Chain chain) {
        return chains.getOrDefault(chain, List.of()).stream();
    }

    /** The chains that packets come to from one: all packets, or some. */
    private Set<Chain> called(Chain start, boolean byAll) {
        var found = new LinkedHashSet<>(Set.of(start));
        var next = new ArrayDeque<>(found);
        while (!next.isEmpty()) {
            rules(next.remove())
                    .map(CALL::matcher)
                    .filter(call -> call.find() && (!byAll || call.start() == 0))
                    .map(call -> new Chain(start.table, call.group(1)))
                    .filter(found::add)
                    .forEach(next::add);
        }
        return found;
    }

    private static boolean isOfRoce(String rule) {
        return PORTS.matcher(rule)
                .results()
                .flatMap(ports -> PORT.matcher(ports.group(1)).results())
                .anyMatch(port -> {
                    var first = Integer.parseInt(port.group(1));
                    var last = port.group(2) == null ? first : Integer.parseInt(port.group(2));
                    return first <= ROCE_PORT && ROCE_PORT <= last;
                });
    }

    private static boolean refusesTheRest(String rule) {
        return rule.contains("policy drop") || REFUSAL.matcher(rule).lookingAt();
    }
}
