package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests servers and clients on Netty's NIO transport. */
@Timeout(60)
@SuppressWarnings("FutureReturnValueIgnored") // a failed write fails the test: no echo arrives
class NettyTest {

    private static final int MAX_HTTP_BYTES = 1 << 20;

    private final EventLoopGroup loops = new NioEventLoopGroup(2);

    @AfterEach
    void shutDown() throws Exception {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldEchoToManyClients() throws Exception {
        var server = serve(Echo::new);
        var clients = new ArrayList<Channel>();
        var echoes = new ArrayList<CompletableFuture<byte[]>>();
        var messages = new ArrayList<byte[]>();
        for (var i = 0; i < 20; i++) {
            var message = new byte[500_000 + i];
            new Random(i).nextBytes(message);
            var echo = new CompletableFuture<byte[]>();
            var client = connect(server, () -> new Collector(message.length, echo));
            client.writeAndFlush(Unpooled.wrappedBuffer(message));
            messages.add(message);
            echoes.add(echo);
            clients.add(client);
        }

        for (var i = 0; i < clients.size(); i++) {
            assertThat(echoes.get(i).get(30, TimeUnit.SECONDS)).isEqualTo(messages.get(i));
        }

        TransportUsage.assertEach("Netty", port(server), 500_000);
        for (var client : clients) {
            client.close().sync();
        }
        server.close().sync();
    }

    @Test
    void shouldRejectClientsAfterItIsClosed() throws Exception {
        var server = serve(Echo::new);
        var address = server.localAddress();
        server.close().sync();

        var attempt =
                new Bootstrap()
                        .group(loops)
                        .channel(NioSocketChannel.class)
                        .handler(new ChannelInboundHandlerAdapter())
                        .connect(address)
                        .await();

        assertThat(attempt.cause())
                .isInstanceOf(ConnectException.class)
                .hasMessageContaining("Connection refused");
    }

    @Test
    void shouldServeHttp() throws Exception {
        var server =
                serve(() ->
                        new ChannelInitializer<Channel>() {
                            @Override
                            protected void initChannel(Channel channel) {
                                channel.pipeline()
                                        .addLast(
                                                new HttpServerCodec(),
                                                new HttpObjectAggregator(MAX_HTTP_BYTES),
                                                new HttpEcho());
                            }
                        });
        var response = new CompletableFuture<String>();
        var client =
                connect(
                        server,
                        () ->
                                new ChannelInitializer<Channel>() {
                                    @Override
                                    protected void initChannel(Channel channel) {
                                        channel.pipeline()
                                                .addLast(
                                                        new HttpClientCodec(),
                                                        new HttpObjectAggregator(MAX_HTTP_BYTES),
                                                        new ResponseHandler(response));
                                    }
                                });
        var content = Unpooled.copiedBuffer("saluton ".repeat(1_000), UTF_8);
        var request =
                new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/", content);
        request.headers().set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());

        client.writeAndFlush(request);

        assertThat(response.get(10, TimeUnit.SECONDS)).isEqualTo("saluton ".repeat(1_000));
        TransportUsage.assertEach("Netty", port(server), 8_000);
        client.close().sync();
        server.close().sync();
    }

    private Channel serve(Supplier<ChannelHandler> handler) throws Exception {
        return new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(
                        new ChannelInitializer<Channel>() {
                            @Override
                            protected void initChannel(Channel channel) {
                                channel.pipeline().addLast(handler.get());
                            }
                        })
                .bind(TestAddress.ANY_PORT)
                .sync()
                .channel();
    }

    private Channel connect(Channel server, Supplier<ChannelHandler> handler) throws Exception {
        return new Bootstrap()
                .group(loops)
                .channel(NioSocketChannel.class)
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 10_000)
                .handler(handler.get())
                .connect(server.localAddress())
                .sync()
                .channel();
    }

    private static int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            context.writeAndFlush(message);
        }
    }

    private static final class Collector extends SimpleChannelInboundHandler<ByteBuf> {

        private final byte[] bytes;
        private final CompletableFuture<byte[]> received;
        private int count;

        Collector(int bytes, CompletableFuture<byte[]> received) {
            this.bytes = new byte[bytes];
            this.received = received;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, ByteBuf part) {
            var length = part.readableBytes();
            part.readBytes(bytes, count, length);
            count += length;
            if (count == bytes.length) {
                received.complete(bytes);
            }
        }
    }

    private static final class HttpEcho extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            var response =
                    new DefaultFullHttpResponse(
                            HttpVersion.HTTP_1_1,
                            HttpResponseStatus.OK,
                            request.content().retain());
            response.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, request.content().readableBytes());
            context.writeAndFlush(response);
        }
    }

    private static final class ResponseHandler
            extends SimpleChannelInboundHandler<FullHttpResponse> {

        private final CompletableFuture<String> text;

        ResponseHandler(CompletableFuture<String> text) {
            this.text = text;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
            text.complete(response.content().toString(UTF_8));
        }
    }
}
