// Package keyserver dials the server that keeps a key, by the URLs that
// rlock.Open takes. The recipes keep their data in the Redis of their locks. A
// service has a client of its own for its data, which also follows the servers
// when they change; a connection of this package breaks then.
package keyserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// Dial connects to the server that keeps key: the one that a redis:// or
// rediss:// URL names, the master of redis+sentinel:// or redis+replicated://,
// and the master of the key's slot with redis+cluster://. Of several hosts the
// first that answers is asked. Keys with the same hash tag are on one server. TLS is for one server
// only. The caller must close the connection.
func Dial(ctx context.Context, rawURL, key string, opts ...redis.DialOption) (redis.Conn, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	var where func(context.Context, string, redis.Conn) (addr string, err error)
	port := ":6379"
	authority, path, _ := strings.Cut(rest, "/")
	account, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@') + 1; at > 0 {
		account, hosts = authority[:at], authority[at:]
	}
	asked, database := account, ""
	switch scheme {
	case "redis+sentinel":
		var master string
		master, database, _ = strings.Cut(path, "/")
		asked, port = "", ":26379" // the account is the master's
		where = func(ctx context.Context, _ string, c redis.Conn) (string, error) { return masterOf(ctx, c, master) }
	case "redis+cluster":
		where = func(ctx context.Context, host string, c redis.Conn) (string, error) {
			return slotsMaster(ctx, host, c, codec.Slot(key))
		}
	case "redis+replicated":
		database = path
		where = itself
	default:
		return redis.DialURLContext(ctx, rawURL, opts...)
	}

	var errs []error
	for _, host := range strings.Split(hosts, ",") {
		if strings.LastIndexByte(host, ':') <= strings.LastIndexByte(host, ']') {
			host += port
		}
		c, err := redis.DialURLContext(ctx, "redis://"+asked+host, opts...)
		if err == nil {
			var addr string
			addr, err = where(ctx, host, c)
			c.Close()
			if err == nil {
				return redis.DialURLContext(ctx, "redis://"+account+addr+"/"+database, opts...)
			}
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("nobody tells where %q is: %w", key, errors.Join(errs...))
}

// masterOf asks a Sentinel.
func masterOf(ctx context.Context, sentinel redis.Conn, master string) (string, error) {
	addr, err := redis.Strings(redis.DoContext(sentinel, ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", master))
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(addr[0], addr[1]), nil
}

// itself asks a node, which is at host, whether it is the master.
func itself(ctx context.Context, host string, node redis.Conn) (string, error) {
	said, err := redis.Values(redis.DoContext(node, ctx, "ROLE"))
	var role string
	if err == nil {
		_, err = redis.Scan(said, &role)
	}
	if err == nil && role != "master" {
		err = fmt.Errorf("%s is no master", host)
	}
	return host, err
}

// slotsMaster asks a node of a cluster, which is at host.
func slotsMaster(ctx context.Context, host string, node redis.Conn, slot uint16) (string, error) {
	ranges, err := redis.Values(redis.DoContext(node, ctx, "CLUSTER", "SLOTS"))
	if err != nil {
		return "", err
	}
	for _, r := range ranges {
		var first, last uint16
		var master []any
		fields, err := redis.Values(r, nil)
		if err != nil {
			return "", err
		}
		if _, err := redis.Scan(fields, &first, &last, &master); err != nil {
			return "", err
		}
		if slot < first || slot > last {
			continue
		}
		name, _ := redis.String(master[0], nil)
		port, err := redis.Int(master[1], nil)
		if name == "" || name == "?" {
			name, _, _ = net.SplitHostPort(host) // a node that does not know its own name
		}
		return net.JoinHostPort(name, fmt.Sprint(port)), err
	}
	return "", fmt.Errorf("slot %d has no master", slot)
}
