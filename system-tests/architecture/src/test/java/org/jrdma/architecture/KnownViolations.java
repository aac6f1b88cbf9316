package org.jrdma.architecture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.function.Predicate.not;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jrdma.architecture.ArchitectureRules.Violation;

/**
 * The violations that are older than the rules, listed by key in known-violations.txt. A violation
 * that is not listed is an error, and so is a listed violation that no longer occurs: the list can
 * only shrink. Delete this class with the last line of the file.
 */
record KnownViolations(Collection<String> keys) {

    static KnownViolations read() throws IOException {
        try (var file = KnownViolations.class.getResourceAsStream("known-violations.txt")) {
            return new KnownViolations(
                    new String(file.readAllBytes(), UTF_8)
                            .lines()
                            .filter(not(String::isBlank))
                            .toList());
        }
    }

    /** Returns one message per difference from the violations found. */
    List<String> differences(Collection<Violation> found) {
        var differences = new ArrayList<String>();
        found.stream()
                .filter(violation -> !keys.contains(violation.key()))
                .collect(
                        groupingBy(
                                Violation::details,
                                TreeMap::new,
                                mapping(Violation::key, toCollection(TreeSet::new))))
                .forEach((details, unlisted) ->
                        differences.add(String.join("\n", unlisted) + ": " + details));
        var occurring = found.stream().map(Violation::key).toList();
        keys.stream()
                .filter(not(occurring::contains))
                .forEach(key ->
                        differences.add(
                                key + ": no longer occurs, delete it from known-violations.txt"));
        return differences;
    }
}
