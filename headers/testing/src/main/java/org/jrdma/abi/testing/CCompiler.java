package org.jrdma.abi.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The C compiler of this machine: {@code $CC} if it is set, otherwise {@code cc}. */
public final class CCompiler {

    private static final Pattern ERROR = Pattern.compile("facts\\.c:(\\d+):\\d+: (?:fatal )?error");

    private static final String PREAMBLE =
            """
            #include <stddef.h>
            #include <stdio.h>
            #include <string.h>

            static void print_zero_bytes(const char *name, const void *object, size_t size)
            {
                const unsigned char *bytes = object;
                const char *separator = "";

                printf("%s={", name);
                for (size_t i = 0; i < size; i++)
                    if (!bytes[i]) {
                        printf("%s%zu", separator, i);
                        separator = ", ";
                    }
                printf("}\\n");
            }

            int main(void)
            {
            """;

    private final String command;

    private CCompiler(String command) {
        this.command = command;
    }

    /** Returns the compiler, or nothing if the machine has none. */
    public static Optional<CCompiler> find() throws InterruptedException {
        var chosen = System.getenv("CC");
        var command = chosen == null ? "cc" : chosen;
        try {
            Command.run(Map.of(), command, "--version");
            return Optional.of(new CCompiler(command));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /**
     * Returns the compiler's value of each fact, without the facts that do not compile.
     *
     * @param header the file in the current folder that declares everything
     * @param includes the folders in which the compiler searches for other headers
     */
    public Map<Fact, String> ask(List<Fact> facts, String header, List<Path> includes, Path folder)
            throws IOException, InterruptedException {
        var known = new ArrayList<>(facts);
        compile(known, "#include \"%s\"\n".formatted(header) + PREAMBLE, includes, folder);
        var answers = new HashMap<String, String>();
        var program = Command.run(Map.of(), folder.resolve("facts").toString());
        for (var line : program.output().lines().toList()) {
            var separator = line.indexOf('=');
            answers.put(line.substring(0, separator), line.substring(separator + 1));
        }
        var said = new HashMap<Fact, String>();
        for (var fact : known) {
            said.put(fact, answers.get(fact.kind() + " " + fact.name()));
        }
        return said;
    }

    private void compile(List<Fact> facts, String preamble, List<Path> includes, Path folder)
            throws IOException, InterruptedException {
        var source = folder.resolve("facts.c");
        var line = preamble.lines().count() + 1;
        while (true) { // until all facts compile, because an undeclared name is reported only once
            var text = new StringBuilder(preamble);
            facts.forEach(fact -> text.append(fact.statement()).append('\n'));
            Files.writeString(source, text.append("return 0;\n}\n"));
            var arguments = new ArrayList<String>();
            arguments.add(command);
            arguments.add("-Werror=implicit-function-declaration"); // an unknown builtin function
            arguments.add("-Wno-incompatible-pointer-types"); // an error in newer compilers
            arguments.add("-I.");
            includes.forEach(include -> arguments.add("-I" + include));
            arguments.addAll(List.of("-o", folder.resolve("facts").toString(), source.toString()));
            var result = Command.run(Map.of(), arguments.toArray(String[]::new));
            if (result.exitCode() == 0) {
                return;
            }
            var refused = new ArrayList<Fact>();
            for (var number : errorLines(result.output())) {
                var index = (int) (number - line);
                if (index < 0 || index >= facts.size()) {
                    throw new AssertionError(result.output());
                }
                refused.add(facts.get(index));
            }
            if (refused.isEmpty()) {
                throw new AssertionError(result.output());
            }
            facts.removeAll(refused);
        }
    }

    private static Set<Long> errorLines(String messages) {
        var lines = new HashSet<Long>();
        var matcher = ERROR.matcher(messages);
        while (matcher.find()) {
            lines.add(Long.valueOf(matcher.group(1)));
        }
        return lines;
    }
}
