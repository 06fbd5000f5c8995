package rlock.peer;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;
import org.redisson.config.MasterSlaveServersConfig;
import org.redisson.config.ReplicatedServersConfig;
import org.redisson.config.SentinelServersConfig;

/**
 * Start-up arguments: the server's address, then {@code key=value} pairs. Instead of one server's address it may be
 * redis+cluster:// with those of some of a cluster, redis+sentinel:// with those of Sentinels and the master's name behind
 * a slash, redis+replicas:// with those of a master and its replicas, or redis+replicated:// with the same, whose roles may
 * change. A key is the name of a Redisson setting; it is set by reflection, since settings came and moved with the versions.
 */
final class Settings {
    private static final String CLUSTER = "redis+cluster://";
    private static final String SENTINEL = "redis+sentinel://";
    private static final String REPLICAS = "redis+replicas://";
    private static final String REPLICATED = "redis+replicated://";

    private Settings() {}

    static Config parse(String[] args) throws Exception {
        if (args.length == 0) {
            throw new IllegalArgumentException("usage: Peer redis://host:port [setting=value]…");
        }
        Config config = new Config();
        // The default codec of old versions needs what Java 17 forbids; locks do not use it.
        config.setCodec(StringCodec.INSTANCE);
        Object server = servers(config, args[0]);
        for (int i = 1; i < args.length; i++) {
            int equals = args[i].indexOf('=');
            if (equals < 1) {
                throw new IllegalArgumentException("not of the form setting=value: " + args[i]);
            }
            String key = args[i].substring(0, equals);
            String value = args[i].substring(equals + 1);
            if (key.equals("namePrefix")) {
                set("nameMapper", new NamePrefix(value), config, server);
            } else {
                set(key, value, config, server);
            }
        }
        return config;
    }

    private static Object servers(Config config, String url) {
        if (url.startsWith(CLUSTER)) {
            ClusterServersConfig servers = sized(config.useClusterServers().setScanInterval(1000));
            addresses(url.substring(CLUSTER.length())).forEach(servers::addNodeAddress);
            return servers;
        }
        if (url.startsWith(SENTINEL)) {
            String[] rest = url.substring(SENTINEL.length()).split("/");
            SentinelServersConfig servers = sized(config.useSentinelServers().setMasterName(rest[1]));
            addresses(rest[0]).forEach(servers::addSentinelAddress);
            return servers;
        }
        if (url.startsWith(REPLICATED)) {
            ReplicatedServersConfig servers = sized(config.useReplicatedServers());
            addresses(url.substring(REPLICATED.length())).forEach(servers::addNodeAddress);
            return servers;
        }
        if (url.startsWith(REPLICAS)) {
            MasterSlaveServersConfig servers = sized(config.useMasterSlaveServers());
            List<String> all = addresses(url.substring(REPLICAS.length()));
            servers.setMasterAddress(all.get(0));
            all.stream().skip(1).forEach(servers::addSlaveAddress);
            return servers;
        }
        return config.useSingleServer()
                .setAddress(url)
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(2);
    }

    private static List<String> addresses(String list) {
        return Arrays.stream(list.split(",")).map(address -> "redis://" + address).toList();
    }

    private static <T extends BaseMasterSlaveServersConfig<T>> T sized(T servers) {
        return servers.setMasterConnectionMinimumIdleSize(1)
                .setMasterConnectionPoolSize(8)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(8)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
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
