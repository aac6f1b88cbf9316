package org.jrdma.architecture;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;
import static org.jrdma.architecture.Dependency.packageOf;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rules for the structure of a module.
 *
 * <ol>
 *   <li>{@code package-cycle}: there is no dependency cycle between packages.
 *   <li>{@code class-cycle}: within a package, no dependency cycle has more than 15 top-level
 *       types.
 *   <li>{@code large-package}: a package that is exported to every module has at most 45 top-level
 *       types.
 *   <li>{@code internal-uses-api}: a type in a package that is not exported to every module uses no
 *       type of a package that is, except exceptions, types in packages named {@code model}, and
 *       the uses in {@link #ALLOWED_USES}. Applications are exempt, because packages that they
 *       export can be the lower layers of the others.
 *   <li>{@code long-file}: a source file has at most 500 lines.
 * </ol>
 *
 * <p>A package {@code p.access} holds the accessor that gives other packages of the module access
 * to non-public members of the package {@code p}, in the manner of {@code jdk.internal.access}. In
 * every rule, its types count as types of {@code p}.
 */
final class ArchitectureRules {

    private static final int LARGEST_CLASS_CYCLE = 15;
    private static final int LARGEST_EXPORTED_PACKAGE = 45;
    private static final int LONGEST_FILE = 500;

    /**
     * A use of an exported package by a package that is not exported.
     *
     * @param packages the packages
     * @param reason the reason for which the use is necessary
     */
    record AllowedUse(Dependency packages, String reason) {

        private AllowedUse(String user, String used, String reason) {
            this(new Dependency(user, used), reason);
        }
    }

    static final List<AllowedUse> ALLOWED_USES =
            List.of(
                    new AllowedUse(
                            "org.jrdma.ffi.linkage",
                            "org.jrdma.ffi",
                            "waits use deadlines, and libraries are opened from providers"),
                    new AllowedUse(
                            "org.jrdma.verbs.cm.channel",
                            "org.jrdma.verbs",
                            "a channel uses the API like a program"),
                    new AllowedUse(
                            "org.jrdma.verbs.cm.channel",
                            "org.jrdma.verbs.memory",
                            "a channel uses the API like a program"),
                    new AllowedUse(
                            "org.jrdma.verbs.queue",
                            "org.jrdma.verbs.memory",
                            "requests are written for slices of memory regions"),
                    new AllowedUse(
                            "org.jrdma.soft.sisci.abi",
                            "org.jrdma.soft.sisci.device",
                            "the fabric runs the device models of a program"),
                    new AllowedUse(
                            "org.jrdma.soft.sisci.fabric",
                            "org.jrdma.soft.sisci.device",
                            "the fabric runs the device models of a program"));

    /**
     * A broken rule.
     *
     * @param key the rule, the module, and the package, type or file that breaks the rule
     * @param details the dependencies or the number that break the rule
     */
    record Violation(String key, String details) {}

    private final CompiledModule module;
    private final List<Violation> violations = new ArrayList<>();

    private ArchitectureRules(CompiledModule module) {
        this.module = module;
    }

    static List<Violation> violations(CompiledModule module) {
        var rules = new ArchitectureRules(module);
        rules.findPackageCycles();
        rules.findClassCycles();
        rules.findLargePackages();
        rules.findInternalTypesThatUseTheApi();
        rules.findLongFiles();
        return rules.violations;
    }

    private void findPackageCycles() {
        var uses = module.dependencies().stream().filter(use -> !use.staysInPackage()).toList();
        for (var cycle : Cycles.among(uses.stream().map(Dependency::ofPackages).toList())) {
            var edges =
                    uses.stream()
                            .filter(use -> use.ofPackages().isAmong(cycle))
                            .collect(
                                    groupingBy(
                                            use ->
                                                    packageOf(use.user())
                                                            + " -> "
                                                            + packageOf(use.used()),
                                            TreeMap::new,
                                            mapping(
                                                    use ->
                                                            simpleName(use.user())
                                                                    + " -> "
                                                                    + simpleName(use.used()),
                                                    joining(", "))));
            cycle.forEach(name ->
                    report(
                            "package-cycle",
                            name,
                            "a cycle of %d packages%s".formatted(cycle.size(), lines(edges))));
        }
    }

    private void findClassCycles() {
        var uses = module.dependencies().stream().filter(Dependency::staysInPackage).toList();
        for (var cycle : Cycles.among(uses)) {
            if (cycle.size() > LARGEST_CLASS_CYCLE) {
                var edges =
                        uses.stream()
                                .filter(use -> use.isAmong(cycle))
                                .collect(
                                        groupingBy(
                                                use -> simpleName(use.user()),
                                                TreeMap::new,
                                                mapping(
                                                        use -> simpleName(use.used()),
                                                        joining(", "))));
                report(
                        "class-cycle",
                        packageOf(cycle.first()),
                        "a cycle of %d types%s".formatted(cycle.size(), lines(edges)));
            }
        }
    }

    private void findLargePackages() {
        module.types().stream()
                .collect(groupingBy(Dependency::packageOf, counting()))
                .forEach((name, types) -> {
                    if (module.exportedPackages().contains(name)
                            && types > LARGEST_EXPORTED_PACKAGE) {
                        report("large-package", name, types + " top-level types");
                    }
                });
    }

    private void findInternalTypesThatUseTheApi() {
        if (module.name().startsWith("applications/")) {
            return;
        }
        module.dependencies().stream()
                .filter(this::isUseOfTheApi)
                .filter(each -> !isAllowed(each))
                .collect(groupingBy(Dependency::user, mapping(Dependency::used, joining(", "))))
                .forEach((type, used) -> report("internal-uses-api", type, used));
    }

    private boolean isUseOfTheApi(Dependency types) {
        var used = packageOf(types.used());
        return !module.exportedPackages().contains(packageOf(types.user()))
                && module.exportedPackages().contains(used)
                && !used.endsWith(".model")
                && !types.used().endsWith("Exception");
    }

    private static boolean isAllowed(Dependency types) {
        return ALLOWED_USES.stream()
                .anyMatch(allowed -> allowed.packages().equals(types.ofPackages()));
    }

    private void findLongFiles() {
        module.sourceLines()
                .forEach((file, lines) -> {
                    if (lines > LONGEST_FILE) {
                        report("long-file", file, lines + " lines");
                    }
                });
    }

    private static String simpleName(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }

    private static String lines(Map<String, String> edges) {
        return edges.entrySet().stream()
                .map(edge -> "\n      " + edge.getKey() + ": " + edge.getValue())
                .collect(joining());
    }

    private void report(String rule, String subject, String details) {
        violations.add(new Violation(rule + " " + module.name() + " " + subject, details));
    }
}
