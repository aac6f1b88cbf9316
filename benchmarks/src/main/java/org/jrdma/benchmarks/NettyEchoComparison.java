package org.jrdma.benchmarks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.Transports;

/**
 * Compares Netty on channels of the SDK with Netty on channels of the JDK. A client sends 100 MB to
 * a server in another process, which sends them back. The channels take turns, and the medians are
 * compared.
 */
@SuppressWarnings("FutureReturnValueIgnored") // After a failed write, the echo does not arrive.
public final class NettyEchoComparison {

    private static final int CHUNK_BYTES = 64 * 1024;
    private static final int CHUNKS = 1_526; // 100 MB

    /** Many, because the rate of a turn depends on the processors that the threads get. */
    private static final int TURNS = 61;

    private static final int TURNS_TO_WARM_UP = 20;
    private static final long TIMEOUT_SECONDS = 60;

    private NettyEchoComparison() {}

    /** Prints a table. With a folder as an argument, runs as the second process. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            serve(Path.of(arguments[0]));
            return;
        }
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "netty-benchmark");
        Files.createFile(SisciSocketsComparison.hosts(folder));
        var child = ChildProcess.start(NettyEchoComparison.class, folder);
        try {
            compare(folder, child.inputReader().readLine().split(" ", -1));
            child.getOutputStream().close();
            child.waitFor();
        } finally {
            child.destroyForcibly().waitFor();
            Files.delete(SisciSocketsComparison.hosts(folder));
        }
        System.exit(0);
    }

    /** Returns the channels to compare: of the JDK, of the SDK over TCP, and over SISCI. */
    private static List<SelectorProvider> providers(Path folder) throws IOException {
        return List.of(
                SelectorProvider.provider(),
                new FabricSelectorProvider(List.of(Transports.tcp())),
                SisciSocketsComparison.sisci(folder));
    }

    private static void compare(Path folder, String[] ports) throws Exception {
        var clients = new ArrayList<Client>();
        for (var provider : providers(folder)) {
            clients.add(new Client(provider, Integer.parseInt(ports[clients.size()])));
        }
        System.out.println(
                "| Netty, echo of 100 MB between two processes | SDK | JDK, TCP | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        compare("over TCP, MB/s", clients.get(1), clients.get(0), "at least 0.95");
        compare("over SISCI, MB/s", clients.get(2), clients.get(0), "at least 1.2");
    }

    private static void compare(String what, Client sdk, Client jdk, String bound)
            throws Exception {
        var own = new double[TURNS];
        var baseline = new double[TURNS];
        for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
            var rate = sdk.megabytesPerSecond();
            var baselineRate = jdk.megabytesPerSecond();
            if (turn >= 0) {
                own[turn] = rate;
                baseline[turn] = baselineRate;
            }
        }
        ComparisonRowPrinter.print(what, own, baseline, bound);
    }

    /** The end of a connection that sends, and counts what comes back. */
    private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {

        private final ByteBuf chunk =
                Unpooled.unreleasableBuffer(
                        Unpooled.directBuffer(CHUNK_BYTES).writeZero(CHUNK_BYTES));
        private final Channel channel;
        private CompletableFuture<Void> end = new CompletableFuture<>();
        private int unsent;
        private long missing;

        Client(SelectorProvider provider, int port) throws InterruptedException {
            channel =
                    new Bootstrap()
                            .group(loops(provider))
                            .channelFactory(() -> new NioSocketChannel(provider))
                            .handler(this)
                            .connect(InetAddress.getLoopbackAddress(), port)
                            .sync()
                            .channel();
        }

        double megabytesPerSecond() throws Exception {
            var start = System.nanoTime();
            channel.eventLoop().submit(this::begin).sync();
            end.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            return (double) CHUNKS * CHUNK_BYTES / 1e6 / ((System.nanoTime() - start) / 1e9);
        }

        private void begin() {
            end = new CompletableFuture<>();
            unsent = CHUNKS;
            missing = (long) CHUNKS * CHUNK_BYTES;
            send();
        }

        /** Sends until the channel has as many bytes to write as Netty suggests. */
        private void send() {
            while (unsent > 0 && channel.isWritable()) {
                unsent--;
                channel.write(chunk.duplicate());
            }
            channel.flush();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            send();
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
            missing -= part.readableBytes();
            if (missing == 0) {
                end.complete(null);
            }
        }
    }

    private static NioEventLoopGroup loops(SelectorProvider provider) {
        ThreadFactory threads = Thread.ofPlatform().daemon().factory();
        return new NioEventLoopGroup(1, threads, provider);
    }

    /** Runs the second process, which prints its ports. */
    private static void serve(Path folder) throws Exception {
        var ports = new ArrayList<String>();
        for (var provider : providers(folder)) {
            var server =
                    new ServerBootstrap()
                            .group(loops(provider))
                            .channelFactory(() -> new NioServerSocketChannel(provider))
                            .childHandler(
                                    new ChannelInitializer<Channel>() {
                                        @Override
                                        protected void initChannel(Channel channel) {
                                            channel.pipeline().addLast(new Echo());
                                        }
                                    })
                            .bind(InetAddress.getLoopbackAddress(), 0)
                            .sync()
                            .channel();
            var address = (InetSocketAddress) server.localAddress();
            ports.add(Integer.toString(address.getPort()));
        }
        System.out.println(String.join(" ", ports));
        var _ = System.in.read(); // Waits until the first process closes this stream.
        System.exit(0);
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.write(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        /** Without this limit, the server would buffer what the client does not read yet. */
        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            context.channel().config().setAutoRead(context.channel().isWritable());
        }
    }
}
