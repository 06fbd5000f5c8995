package rlock.peer;

import java.lang.reflect.Proxy;

/** A NameMapper that puts a prefix before every name. */
record NamePrefix(String prefix) {

    /** A proxy, since the interface does not exist in every version, and not in one package. */
    Object as(Class<?> nameMapper) {
        return Proxy.newProxyInstance(
                nameMapper.getClassLoader(),
                new Class<?>[] {nameMapper},
                (proxy, method, args) ->
                        switch (method.getName()) {
                            case "map" -> args[0] == null ? null : prefix + args[0];
                            case "unmap" -> strip((String) args[0]);
                            case "toString" -> toString();
                            case "hashCode" -> System.identityHashCode(proxy);
                            case "equals" -> proxy == args[0];
                            default -> throw new UnsupportedOperationException(method.toString());
                        });
    }

    private String strip(String name) {
        return name != null && name.startsWith(prefix) ? name.substring(prefix.length()) : name;
    }
}
