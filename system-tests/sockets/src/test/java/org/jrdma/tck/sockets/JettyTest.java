package org.jrdma.tck.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.CompletableResponseListener;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Jetty's server, which accepts on a thread that waits, and its client. */
@Timeout(60)
class JettyTest {

    private static final int MOST_BYTES = 1 << 20;

    private final Server server = new Server();
    private final ServerConnector connector = new ServerConnector(server);
    private final HttpClient client = new HttpClient();

    /** Sends back what it is sent. */
    private static final class Mirror extends Handler.Abstract.NonBlocking {
        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            response.setStatus(200);
            Content.copy(request, response, callback);
            return true;
        }
    }

    @BeforeEach
    void start() throws Exception {
        connector.setHost(Here.HOST);
        server.addConnector(connector);
        server.setHandler(new Mirror());
        server.start();
        client.start();
    }

    @AfterEach
    void stop() throws Exception {
        client.stop();
        server.stop();
    }

    @Test
    void shouldAnswerOneAfterTheOther() throws Exception {
        for (var i = 0; i < 100; i++) {
            var text = ("saluton " + i).repeat(1_000);

            assertThat(post(text.getBytes(UTF_8)).get(20, TimeUnit.SECONDS).getContent())
                    .asString(UTF_8)
                    .isEqualTo(text);
        }
        Travelled.overTheTransport("Jetty", connector.getLocalPort(), 1_000_000);
    }

    @Test
    void shouldAnswerManyAtOnce() throws Exception {
        var bodies = new ArrayList<byte[]>();
        var answers = new ArrayList<CompletableFuture<ContentResponse>>();
        for (var i = 0; i < 50; i++) {
            var body = new byte[300_000 + i];
            new Random(i).nextBytes(body);
            bodies.add(body);
            answers.add(post(body));
        }

        for (var i = 0; i < bodies.size(); i++) {
            assertThat(answers.get(i).get(30, TimeUnit.SECONDS).getContent())
                    .isEqualTo(bodies.get(i));
        }
        Travelled.overTheTransportTogether(
                "Jetty, many at once", connector.getLocalPort(), 2 * 50 * 300_000);
    }

    private CompletableFuture<ContentResponse> post(byte[] body) {
        var request =
                client.POST("http://%s:%d/".formatted(Here.HOST, connector.getLocalPort()))
                        .body(new BytesRequestContent(body));
        return new CompletableResponseListener(request, MOST_BYTES).send();
    }
}
