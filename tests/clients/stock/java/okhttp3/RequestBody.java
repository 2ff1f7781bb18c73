package okhttp3;

import java.io.File;
import java.io.IOException;
import okio.BufferedSink;

/** As OkHttp 4 has it, for which the client is made; Debian has OkHttp 3, where `create` takes the type first. */
public abstract class RequestBody {
    public static RequestBody create(byte[] content, MediaType type) {
        return null;
    }

    public static RequestBody create(File content, MediaType type) {
        return null;
    }

    public static RequestBody create(String content, MediaType type) {
        return null;
    }

    public abstract MediaType contentType();

    public long contentLength() throws IOException {
        return -1;
    }

    public abstract void writeTo(BufferedSink sink) throws IOException;
}
