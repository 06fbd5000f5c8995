package main

import (
	"cmp"
	"context"
	"net"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// address is a host's, with all its ports if port is empty.
type address struct{ host, port string }

// addressed reads host:port, or a host alone, which may be an IPv6 address with or without brackets.
func addressed(text string) (a address, ok bool) {
	host, port, err := net.SplitHostPort(strings.ToLower(text))
	if err != nil {
		host, port = strings.Trim(strings.ToLower(text), "[]"), ""
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return a, false
	}
	return address{host, port}, host != "" && (net.ParseIP(host) != nil || !strings.ContainsAny(host, ":=/[] "))
}

// dialer returns the dialer that follows --via, nil without it.
func (s *server) dialer() (redisconn.Dialer, error) {
	if len(s.via) == 0 {
		return nil, nil
	}
	via := map[address]address{}
	for _, one := range s.via {
		left, right, _ := strings.Cut(one, "=")
		from, ok := addressed(left)
		to, also := addressed(right)
		if before, twice := via[from]; !ok || !also || twice && before != to { // a completion has each one twice
			return nil, wrong("--via %s: it is FROM=TO, each a host or host:port, and each FROM once", one)
		}
		via[from] = to
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if at, ok := addressed(addr); ok && network == "tcp" {
			to, is := via[at]
			if !is {
				to, is = via[address{host: at.host}]
			}
			if is {
				addr = net.JoinHostPort(to.host, cmp.Or(to.port, at.port))
			}
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}, nil
}
