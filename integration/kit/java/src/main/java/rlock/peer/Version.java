package rlock.peer;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import org.redisson.Redisson;

/** The version of the Redisson that was in fact loaded, as its own jar states it. */
final class Version {
    private static final String RESOURCE = "/META-INF/maven/org.redisson/redisson/pom.properties";

    private Version() {}

    static String ofRedisson() throws IOException {
        try (InputStream in = Redisson.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IOException("the Redisson on the class path does not state its version");
            }
            Properties properties = new Properties();
            properties.load(in);
            return properties.getProperty("version");
        }
    }
}
