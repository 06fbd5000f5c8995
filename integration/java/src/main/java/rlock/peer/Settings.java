package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.SentinelServersConfig;
import org.redisson.config.SingleServerConfig;

/**
 * Start-up arguments: the server's address, or redis+cluster:// with those of some of a cluster, or redis+sentinel:// with
 * those of Sentinels and a master's name, then {@code key=value} pairs. A key is the name of a Redisson setting; it is set by
 * reflection, since settings came and moved with the versions.
 */
final class Settings {
    private static final String CLUSTER = "redis+cluster://";
    private static final String SENTINEL = "redis+sentinel://";

    private Settings() {}

    static Config parse(String[] args) throws Exception {
        if (args.length == 0) {
            throw new IllegalArgumentException("usage: Peer redis://host:port [setting=value]…");
        }
        Config config = new Config();
        // The default codec of old versions needs what Java 17 forbids; locks do not use it.
        config.setCodec(StringCodec.INSTANCE);
        Object server = server(config, args[0]);
        for (int i = 1; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("not of the form setting=value: " + args[i]);
            }
            String key = args[i].substring(0, equals);
            String value = args[i].substring(equals + 1);
            switch (key) {
                case "namePrefix" -> set("nameMapper", new NamePrefix(value), config, server);
                case "trustCertificates" -> {
                    TrustStore store = TrustStore.of(value);
                    set("sslTruststore", store.url(), config, server);
                    set("sslTruststorePassword", TrustStore.PASSWORD, config, server);
                }
                default -> set(key, value, config, server);
            }
        }
        return config;
    }

    private static Object server(Config config, String url) {
        if (url.startsWith(CLUSTER)) {
            return cluster(config, url);
        }
        return url.startsWith(SENTINEL) ? sentinel(config, url) : single(config, url);
    }

    private static SingleServerConfig single(Config config, String address) {
        return config.useSingleServer()
                .setAddress(address)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(2);
    }

    private static ClusterServersConfig cluster(Config config, String url) {
        ClusterServersConfig servers =
                config.useClusterServers()
                        .setScanInterval(1000)
                        .setMasterConnectionMinimumIdleSize(1)
                        .setMasterConnectionPoolSize(8)
                        .setSlaveConnectionMinimumIdleSize(1)
                        .setSlaveConnectionPoolSize(8)
                        .setSubscriptionConnectionMinimumIdleSize(1)
                        .setSubscriptionConnectionPoolSize(4);
        for (String address : url.substring(CLUSTER.length()).split(",")) {
            servers.addNodeAddress("redis://" + address);
        }
        return servers;
    }

    private static SentinelServersConfig sentinel(Config config, String url) {
        String[] parts = url.substring(SENTINEL.length()).split("/");
        SentinelServersConfig servers =
                config.useSentinelServers()
                        .setMasterName(parts[1])
                        .setCheckSentinelsList(false)
                        .setMasterConnectionMinimumIdleSize(1)
                        .setMasterConnectionPoolSize(8)
                        .setSlaveConnectionMinimumIdleSize(1)
                        .setSlaveConnectionPoolSize(8)
                        .setSubscriptionConnectionMinimumIdleSize(1)
                        .setSubscriptionConnectionPoolSize(4);
        for (String address : parts[0].split(",")) {
            servers.addSentinelAddress("redis://" + address);
        }
        return servers;
    }

    /** Tries the holders in order, since Redisson 4 moved settings of the server to the client. */
    private static void set(String key, Object value, Object... holders) throws Exception {
        String setter = "set" + Character.toUpperCase(key.charAt(0)) + key.substring(1);
        for (Object holder : holders) {
            for (Method method : holder.getClass().getMethods()) {
                if (!method.getName().equals(setter) || method.getParameterCount() != 1) {
                    continue;
                }
                Object converted = convert(value, method.getParameterTypes()[0]);
                if (converted == null) {
                    continue;
                }
                // Old versions inherit public setters from a class that is not public.
                method.setAccessible(true);
                try {
                    method.invoke(holder, converted);
                } catch (InvocationTargetException e) {
                    throw new IllegalArgumentException(key + "=" + value, e.getCause());
                }
                return;
            }
        }
        throw new IllegalArgumentException(
                "Redisson " + Version.ofRedisson() + " has no setting " + key);
    }

    /** Null if the setter wants another type. */
    private static Object convert(Object value, Class<?> type) {
        if (type.isInstance(value)) {
            return value;
        }
        if (value instanceof NamePrefix prefix && type.isInterface()) {
            return prefix.as(type);
        }
        if (!(value instanceof String text)) {
            return null;
        }
        if (type.isEnum()) {
            for (Object constant : type.getEnumConstants()) {
                if (constant.toString().equals(text)) {
                    return constant;
                }
            }
            throw new IllegalArgumentException("no " + type.getSimpleName() + ": " + text);
        }
        if (type == int.class) {
            return Integer.valueOf(text);
        }
        if (type == long.class) {
            return Long.valueOf(text);
        }
        if (type == boolean.class) {
            return switch (text) {
                case "true" -> true;
                case "false" -> false;
                default -> throw new IllegalArgumentException("neither true nor false: " + text);
            };
        }
        return null;
    }
}
