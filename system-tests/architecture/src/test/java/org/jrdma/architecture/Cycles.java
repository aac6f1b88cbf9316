package org.jrdma.architecture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Finds the cycles in a graph of dependencies. */
final class Cycles {

    private Cycles() {}

    /** Returns the strongly connected components of more than one node. */
    static Set<SortedSet<String>> among(Collection<Dependency> dependencies) {
        Map<String, Set<String>> used =
                dependencies.stream()
                        .collect(groupingBy(Dependency::user, mapping(Dependency::used, toSet())));
        var reachable = new HashMap<String, Set<String>>();
        used.keySet().forEach(node -> reachable.put(node, reachableFrom(node, used)));

        var cycles = new HashSet<SortedSet<String>>();
        reachable.forEach((node, others) -> {
            var cycle = new TreeSet<>(others);
            cycle.removeIf(other -> !reachable.getOrDefault(other, Set.of()).contains(node));
            if (cycle.size() > 1) {
                cycles.add(cycle);
            }
        });
        return cycles;
    }

    private static Set<String> reachableFrom(String start, Map<String, Set<String>> used) {
        var reached = new HashSet<String>();
        var pending = new ArrayDeque<>(List.of(start));
        while (!pending.isEmpty()) {
            for (var next : used.getOrDefault(pending.pop(), Set.of())) {
                if (reached.add(next)) {
                    pending.push(next);
                }
            }
        }
        return reached;
    }
}
