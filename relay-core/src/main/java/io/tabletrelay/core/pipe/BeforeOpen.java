package io.tabletrelay.core.pipe;

import io.tabletrelay.api.RelayException;
import io.tabletrelay.core.delivery.Consumer;
import java.util.ArrayDeque;
import java.util.function.Predicate;

/**
 * What came for a pipe while its files were not open, until they are.
 *
 * <p>Threading: confined to the pipe's transfer thread.
 */
final class BeforeOpen {
    private static final int MOST_SAID = 4096;

    /** Connections that asked for the pipe and have not gone since: they wait, also through a failure. */
    private final ArrayDeque<Consumer> bound = new ArrayDeque<>();
    /** Lines of connections: they wait likewise. */
    private final ArrayDeque<Runnable> said = new ArrayDeque<>();
    /** Publishes and questions: they are answered when the pipe is open, or has failed. */
    private final ArrayDeque<TransferLoop.Request> asked = new ArrayDeque<>();

    boolean isEmpty() {
        return bound.isEmpty() && said.isEmpty() && asked.isEmpty();
    }

    void bind(Consumer consumer) {
        bound.add(consumer);
    }

    void gone(Consumer consumer) {
        bound.remove(consumer);
    }

    /** Returns false if so much was said that this is not kept. */
    boolean say(Runnable lines) {
        return said.size() < MOST_SAID && said.add(lines);
    }

    void ask(TransferLoop.Request request) {
        asked.add(request);
    }

    /** The pipe is open: lines first, they were said before anybody is bound anew. */
    void handTo(OpenPipe open, java.util.function.Consumer<Consumer> bind) {
        for (Runnable lines = said.poll(); lines != null; lines = said.poll()) {
            lines.run();
        }
        for (Consumer consumer = bound.poll(); consumer != null; consumer = bound.poll()) {
            bind.accept(consumer);
        }
        for (TransferLoop.Request request = asked.poll(); request != null; request = asked.poll()) {
            request.whenOpen().accept(open);
        }
    }

    /** Answers all who wait with this, connections too, and forgets what they said. */
    void refuseAll(RelayException why) {
        said.clear();
        refuseBinding(each -> true, why);
        refuseAsked(why);
    }

    /** Answers connections that asked for the pipe, those for whom this is true. */
    void refuseBinding(Predicate<Consumer> whom, RelayException why) {
        bound.removeIf(each -> {
            boolean refused = whom.test(each);
            if (refused) {
                each.sink().refused(why);
            }
            return refused;
        });
    }

    /** Answers publishes and questions with this failure. */
    void refuseAsked(RelayException why) {
        for (TransferLoop.Request request = asked.poll(); request != null; request = asked.poll()) {
            request.whenNot().accept(why);
        }
    }
}
