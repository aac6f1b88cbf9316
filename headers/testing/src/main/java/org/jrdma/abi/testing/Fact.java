package org.jrdma.abi.testing;

import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.SequenceLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.UnionLayout;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * A statement of the generated code about C: a size, an offset or a constant.
 *
 * @param statement the C statement that prints the compiler's value, on one line and without
 *     macros, so that the line number of an error identifies the fact
 * @param value the value in the generated code
 */
public record Fact(Kind kind, String name, String statement, String value) {

    /** The kinds of facts. */
    public enum Kind {
        SIZE,
        PADDING,
        MEMBER_OFFSET,
        MEMBER_SIZE,
        CONSTANT
    }

    /**
     * Finds all facts of the generated classes by reflection.
     *
     * @param header the generated class of the header, whose package contains the other classes
     */
    public static List<Fact> all(Class<?> header) throws Exception {
        var facts = new ArrayList<Fact>();
        for (var type : generatedClasses(header)) {
            if (type.getEnclosingClass() == null && hasLayout(type)) {
                addLayout((GroupLayout) type.getMethod("layout").invoke(null), facts);
            }
        }
        for (var method : header.getDeclaredMethods()) {
            if (isConstant(method)) {
                addConstant(method, facts);
            }
        }
        return facts;
    }

    /** Returns the generated classes, initialized. */
    public static List<Class<?>> generatedClasses(Class<?> header)
            throws IOException, URISyntaxException {
        var location = header.getProtectionDomain().getCodeSource().getLocation().toURI();
        var packageName = header.getPackageName();
        var classes = new ArrayList<Class<?>>();
        try (var files = Files.list(Path.of(location).resolve(packageName.replace('.', '/')))) {
            for (var file : files.sorted(Comparator.naturalOrder()).toList()) {
                var name = file.getFileName().toString().replace(".class", "");
                try {
                    classes.add(Class.forName(packageName + "." + name));
                } catch (ClassNotFoundException e) {
                    throw new IOException(file + " is not a class", e);
                }
            }
        }
        return classes;
    }

    private static boolean hasLayout(Class<?> type) {
        try {
            return type.getMethod("layout").getReturnType() == GroupLayout.class;
        } catch (NoSuchMethodException _) {
            return false;
        }
    }

    private static boolean isConstant(Method method) {
        return Modifier.isPublic(method.getModifiers())
                && method.getParameterCount() == 0
                && !method.getName().contains("$");
    }

    private static void addConstant(Method method, List<Fact> facts) throws Exception {
        var name = method.getName();
        var value = method.invoke(null);
        var number = value instanceof MemorySegment pointer ? pointer.address() : value;
        var cast = value instanceof Integer ? "(int) " : "";
        facts.add(fact(Kind.CONSTANT, name, cast + name, number));
    }

    private static void addLayout(GroupLayout layout, List<Fact> facts) {
        var name = layout.name().orElseThrow();
        var type = (layout instanceof UnionLayout ? "union " : "struct ") + name;
        facts.add(fact(Kind.SIZE, name, "sizeof(" + type + ")", layout.byteSize()));
        var padding = padding(layout).toString();
        facts.add(new Fact(Kind.PADDING, name, printPadding(name, type), padding));
        addMembers(new Outermost(type, name, layout.byteSize()), layout, "", 0, facts);
    }

    private record Outermost(String type, String name, long size) {}

    private static void addMembers(
            Outermost outermost,
            GroupLayout layout,
            String prefix,
            long layoutOffset,
            List<Fact> facts) {
        for (var member : layout.memberLayouts()) {
            if (member instanceof PaddingLayout) {
                continue;
            }
            var name = member.name().orElseThrow();
            var offset = layoutOffset + layout.byteOffset(PathElement.groupElement(name));
            if (name.startsWith("$anon$")) {
                addMembers(outermost, (GroupLayout) member, prefix, offset, facts);
                continue;
            }
            addMember(outermost, prefix + name, offset, member, facts);
            if (member instanceof GroupLayout group) {
                addMembers(outermost, group, prefix + name + ".", offset, facts);
            }
        }
    }

    private static void addMember(
            Outermost outermost, String path, long offset, MemoryLayout member, List<Fact> facts) {
        var name = outermost.name + "." + path;
        var type = outermost.type;
        var offsetof = "__builtin_offsetof(%s, %s)".formatted(type, path);
        if (outermost.name.equals("verbs_context")) {
            // the structure grows at its front, so only the distance from its end is constant
            offsetof = "sizeof(%s) - %s".formatted(type, offsetof);
            offset = outermost.size - offset;
        }
        facts.add(fact(Kind.MEMBER_OFFSET, name, offsetof, offset));
        if (!(member instanceof GroupLayout)) {
            var sizeof = "sizeof(((%s *) 0)->%s)".formatted(type, path);
            facts.add(fact(Kind.MEMBER_SIZE, name, sizeof, member.byteSize()));
        }
    }

    private static Fact fact(Kind kind, String name, String expression, Object value) {
        var statement =
                "printf(\"%s %s=%%lld\\n\", (long long) (%s));".formatted(kind, name, expression);
        return new Fact(kind, name, statement, value.toString());
    }

    private static String printPadding(String name, String type) {
        return "{ static %s all; memset(&all, 0xff, sizeof all); __builtin_clear_padding(&all); "
                        .formatted(type)
                + "print_zero_bytes(\"%s %s\", &all, sizeof all); }".formatted(Kind.PADDING, name);
    }

    /** Returns the bytes of a layout that do not belong to a member. */
    private static BitSet padding(MemoryLayout layout) {
        var bytes = new BitSet();
        switch (layout) {
            case PaddingLayout padding -> bytes.set(0, (int) padding.byteSize());
            case SequenceLayout sequence -> {
                var element = padding(sequence.elementLayout());
                var size = (int) sequence.elementLayout().byteSize();
                for (var i = 0; i < sequence.elementCount(); i++) {
                    var start = i * size;
                    element.stream().forEach(index -> bytes.set(start + index));
                }
            }
            case StructLayout struct -> {
                var start = 0;
                for (var member : struct.memberLayouts()) {
                    var memberStart = start;
                    padding(member).stream().forEach(index -> bytes.set(memberStart + index));
                    start += (int) member.byteSize();
                }
            }
            case UnionLayout union -> {
                bytes.set(0, (int) union.byteSize());
                for (var member : union.memberLayouts()) {
                    var padding = padding(member);
                    padding.set((int) member.byteSize(), (int) union.byteSize());
                    bytes.and(padding);
                }
            }
            default -> {}
        }
        return bytes;
    }
}
