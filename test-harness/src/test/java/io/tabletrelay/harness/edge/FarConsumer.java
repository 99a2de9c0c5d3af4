package io.tabletrelay.harness.edge;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** Binds a pipe, answers pings, acks nothing, prints {@code got} and the id of each event. Arguments: URI and pipe. */
final class FarConsumer implements WebSocket.Listener {
    private FarConsumer() {}

    public static void main(String[] arguments) throws InterruptedException {
        HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(arguments[0]), new FarConsumer())
                .thenCompose(socket -> socket.sendText("BIND:" + arguments[1], true))
                .join();
        new CountDownLatch(1).await();
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket socket, ByteBuffer event, boolean last) {
        System.out.println("got " + event.getLong());
        socket.request(1);
        return null;
    }
}
