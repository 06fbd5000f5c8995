package rlock.peer;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;

/** Turns a PEM file of certificates into the kind of file that every Redisson can read. */
record TrustStore(URL url) {
    static final String PASSWORD = "public";

    static TrustStore of(String pemFile) throws Exception {
        KeyStore store = KeyStore.getInstance("JKS");
        store.load(null, null);
        try (InputStream in = Files.newInputStream(Path.of(pemFile))) {
            int n = 0;
            for (Certificate c : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("trusted-" + n++, c);
            }
        }
        Path file = Files.createTempFile("peer", ".jks");
        file.toFile().deleteOnExit();
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
        return new TrustStore(file.toUri().toURL());
    }
}
