package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.abi.testing.CCompiler;
import org.jrdma.abi.testing.Command;
import org.jrdma.abi.testing.MissingPrerequisite;
import org.jrdma.sockets.channel.ChannelOption;
import org.jrdma.sockets.channel.DatagramCalls;
import org.jrdma.sockets.channel.MulticastMemberships;
import org.jrdma.sockets.channel.SelectedTransport;
import org.jrdma.sockets.internal.SmcFallbackQuery;
import org.jrdma.sockets.internal.SocketCalls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares constants of the system that are written by hand with the values in the C headers. */
class ConstantsTest {

    private static final List<Class<?>> WITH_NUMBERS =
            List.of(
                    SocketCalls.class,
                    SmcFallbackQuery.class,
                    ChannelOption.class,
                    SelectedTransport.class,
                    DatagramCalls.class,
                    MulticastMemberships.class);

    /** The C expressions of the constants whose Java name differs from the C name. */
    private static final Map<String, String> IN_C =
            Map.of(
                    "AGAIN", "-EAGAIN",
                    "GROUP", "offsetof(struct group_req, gr_group)",
                    "SOURCE", "offsetof(struct group_source_req, gsr_source)",
                    "HEADER_BYTES", "sizeof(struct nlmsghdr)",
                    "REQUEST_BYTES", "sizeof(struct nlmsghdr) + sizeof(struct smc_diag_req)",
                    "MODE", "offsetof(struct smc_diag_msg, diag_mode)",
                    "INODE", "offsetof(struct smc_diag_msg, diag_inode)",
                    "SOCKET_BYTES", "sizeof(struct smc_diag_msg)");

    @TempDir private Path folder;

    @Test
    void shouldHaveTheValuesOfTheCHeaders() throws Exception {
        if (CCompiler.find().isEmpty()) {
            throw MissingPrerequisite.missing("no C compiler: install one, or set CC");
        }
        var inJava = new TreeMap<String, Long>();
        for (var type : WITH_NUMBERS) {
            for (var field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType().isPrimitive()) {
                    field.setAccessible(true);
                    var name = IN_C.getOrDefault(field.getName(), field.getName());
                    inJava.put(name, ((Number) field.get(null)).longValue());
                }
            }
        }

        assertThat(inJava).containsKeys("MCAST_LEAVE_GROUP", "TCP_KEEPCNT", "FIONREAD");
        assertThat(inJava).isEqualTo(inC(inJava.keySet().stream()));
    }

    private Map<String, Long> inC(Stream<String> expressions) throws Exception {
        var source = folder.resolve("numbers.c");
        var program = folder.resolve("numbers").toString();
        Files.writeString(
                source,
                expressions
                        .map(expression ->
                                "printf(\"%s=%%lld\\n\", (long long) (%s));\n"
                                        .formatted(expression, expression))
                        .collect(
                                Collectors.joining(
                                        "",
                                        """
                                        #define _GNU_SOURCE
                                        #include <errno.h>
                                        #include <linux/netlink.h>
                                        #include <linux/smc_diag.h>
                                        #include <linux/sock_diag.h>
                                        #include <netinet/in.h>
                                        #include <netinet/tcp.h>
                                        #include <poll.h>
                                        #include <stddef.h>
                                        #include <stdio.h>
                                        #include <sys/ioctl.h>
                                        #include <sys/socket.h>
                                        int main(void)
                                        {
                                        """,
                                        "return 0;\n}\n")));
        var configured = System.getenv("CC");
        var compiled =
                Command.run(
                        Map.of(),
                        configured == null ? "cc" : configured,
                        "-o",
                        program,
                        source.toString());
        assertThat(compiled.exitCode()).as(compiled.output()).isZero();
        return Command.run(Map.of(), program)
                .output()
                .lines()
                .map(line -> line.split("="))
                .collect(Collectors.toMap(pair -> pair[0], pair -> Long.valueOf(pair[1])));
    }
}
