package org.jrdma.tck.software;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePathScanner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/**
 * Reads from the Javadoc of ibverbs-java which C functions correspond to its types and methods. In
 * Javadoc, the names of C functions follow "In C:". A name in the Javadoc of a method belongs to
 * the method. In the Javadoc of a type, a name belongs to {@code close()} if it follows {@code
 * {@link #close()} is}. A name in the description of a record component belongs to the component.
 */
final class JavaEquivalentsOfCFunctions {

    private static final Path SOURCES = Path.of("../../ibverbs-java/src/main/java/org/jrdma/verbs");

    /** The packages below {@code org.jrdma.verbs} that the module does not export. */
    private static final Set<String> HIDDEN = Set.of("access", "handle", "internal", "queue");

    private static final List<String> PACKAGES = packages();
    private static final Pattern PARAMETER = Pattern.compile("@param (\\w+) (.*)");
    private static final Pattern IN_C = Pattern.compile("In C: (.*?)(?:\\.(?= |$)|$)");
    private static final Pattern NAME =
            Pattern.compile("\\{@link #(\\w+)\\(\\)\\} is|\\{@code (\\w+)\\}");

    private final Map<String, Set<JavaName>> names = new HashMap<>();

    private static List<String> packages() {
        try (var folders = Files.walk(SOURCES)) {
            return folders.filter(Files::isDirectory)
                    .map(folder -> SOURCES.getParent().relativize(folder).toString())
                    .map(folder -> "org.jrdma." + folder.replace('/', '.') + ".")
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * A type or a member of the API.
     *
     * @param type the name of the type without its package
     * @param member a method, or empty for the type itself
     */
    record JavaName(String type, String member) {

        Class<?> load() {
            for (var name : PACKAGES) {
                try {
                    return Class.forName(name + type.replace('.', '$'));
                } catch (ClassNotFoundException e) {
                    // The type is in another package.
                }
            }
            throw new AssertionError("Cannot find the class of a source file: " + type);
        }

        @Override
        public String toString() {
            return member.isEmpty() ? type : type + "#" + member;
        }
    }

    /** Reads the sources. */
    static JavaEquivalentsOfCFunctions read() throws IOException {
        var result = new JavaEquivalentsOfCFunctions();
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, null);
                var sources = Files.walk(SOURCES)) {
            var units =
                    files.getJavaFileObjectsFromPaths(
                            sources.filter(JavaEquivalentsOfCFunctions::isOfTheApi).toList());
            var task = (JavacTask) compiler.getTask(null, files, null, null, null, units);
            var scanner = result.new Scanner(DocTrees.instance(task));
            task.parse().forEach(unit -> scanner.scan(unit, null));
        }
        return result;
    }

    private static boolean isOfTheApi(Path file) {
        return file.toString().endsWith(".java")
                && HIDDEN.stream().noneMatch(name -> file.startsWith(SOURCES.resolve(name)));
    }

    /**
     * Returns the Java types and methods of a C function. A method of a base class that is not
     * public is replaced by the methods of the public subclasses.
     */
    List<JavaName> of(String function) {
        return names.getOrDefault(function, Set.of()).stream()
                .flatMap(JavaEquivalentsOfCFunctions::visible)
                .toList();
    }

    private static Stream<JavaName> visible(JavaName name) {
        var type = name.load();
        return Modifier.isPublic(type.getModifiers())
                ? Stream.of(name)
                : Stream.of(type.getPermittedSubclasses())
                        .map(subclass -> new JavaName(subclass.getSimpleName(), name.member()));
    }

    /** Returns the names of all C functions that the Javadoc contains. */
    Set<String> mentioned() {
        return Collections.unmodifiableSet(names.keySet());
    }

    private final class Scanner extends TreePathScanner<Void, Void> {

        private final DocTrees trees;
        private final Deque<String> types = new ArrayDeque<>();

        Scanner(DocTrees trees) {
            this.trees = trees;
        }

        @Override
        public Void visitClass(ClassTree type, Void unused) {
            types.addLast(type.getSimpleName().toString());
            read("");
            super.visitClass(type, null);
            types.removeLast();
            return null;
        }

        @Override
        public Void visitMethod(MethodTree method, Void unused) {
            read(method.getName().toString());
            return null; // Classes in a method are not part of the API.
        }

        private void read(String member) {
            var comment = trees.getDocComment(getCurrentPath());
            if (comment == null) {
                return;
            }
            var isRecord = getCurrentPath().getLeaf().getKind() == Tree.Kind.RECORD;
            for (var part : comment.replaceAll("\\s+", " ").strip().split(" (?=@[a-z])", -1)) {
                var parameter = PARAMETER.matcher(part);
                var component = isRecord && parameter.matches() ? parameter.group(1) : member;
                IN_C.matcher(part).results().forEach(inC -> add(component, inC.group(1)));
            }
        }

        private void add(String member, String inC) {
            var name = NAME.matcher(inC);
            var target = member;
            while (name.find()) {
                if (name.group(1) != null) {
                    target = name.group(1);
                } else {
                    names.computeIfAbsent(name.group(2), _ -> new LinkedHashSet<>())
                            .add(new JavaName(String.join(".", types), target));
                }
            }
        }
    }
}
