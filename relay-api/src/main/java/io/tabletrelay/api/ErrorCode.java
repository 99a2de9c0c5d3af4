package io.tabletrelay.api;

/** Why the relay refused or failed: stable, what clients see. New codes may come, none changes its meaning. */
public enum ErrorCode {
    /** The serializer refused the source's bytes; the message says where. */
    BAD_EVENT(Kind.CLIENT),
    /** A pipe name that cannot be one. */
    BAD_NAME(Kind.CLIENT),
    /** A request, option or setting that does not make sense. */
    BAD_REQUEST(Kind.CLIENT),
    /** No serializer of the asked source type is loaded. */
    NO_SERIALIZER(Kind.CLIENT),
    /** The pipe does not exist, and the request does not create it. */
    NO_SUCH_PIPE(Kind.CLIENT),
    /** The pipe exists, with other settings than asked for. */
    PIPE_EXISTS(Kind.CLIENT),
    /** The pipe's life-cycle state, or its version, is another than the request expects. */
    WRONG_STATE(Kind.CLIENT),
    /** The pipe's producer has finished it: no event may follow. */
    PIPE_FINISHED(Kind.CLIENT),
    /** The subscription does not exist. */
    NO_SUCH_SUBSCRIPTION(Kind.CLIENT),
    /** Not allowed with the rights of this connection. */
    FORBIDDEN(Kind.CLIENT),
    /** A control line that the protocol does not know. */
    BAD_LINE(Kind.CLIENT),
    /** An option of a control line that the protocol does not know, or with a value that it does not allow. */
    BAD_OPTION(Kind.CLIENT),
    /** The subscription has a live consumer, which keeps it. */
    PIPE_BUSY(Kind.RETRYABLE),
    /** An event, a group or a request over its size limit. */
    TOO_LARGE(Kind.CLIENT),
    /** A producer's sequence that is not the one after the last stored. */
    OUT_OF_SEQUENCE(Kind.CLIENT),
    /** More is waiting to be appended than the relay will hold: try again soon. */
    BUSY(Kind.RETRYABLE),
    /** The pipe is at its limit of events or bytes. */
    PIPE_FULL(Kind.RETRYABLE),
    /** The disk is at its reserve or refuses to grow a file. */
    STORAGE_FULL(Kind.RETRYABLE),
    /** The pipe's store cannot be used; the message says why. */
    PIPE_FAILED(Kind.RETRYABLE),
    /** The relay is stopping. */
    STOPPING(Kind.RETRYABLE),
    /** The relay cannot start as asked: a taken port, a locked folder. */
    CANNOT_START(Kind.FATAL),
    /** A fault of the relay's own, logged with its trace. */
    INTERNAL(Kind.FATAL);

    /** What the one who gets the error can do. */
    public enum Kind {
        /** Change the request. */
        CLIENT,
        /** Send the same again later. */
        RETRYABLE,
        /** Call an operator. */
        FATAL
    }

    private final Kind kind;

    ErrorCode(Kind kind) {
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
