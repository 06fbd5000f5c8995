package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// reaches has each command that reads, writes or waits, and what it says if it reaches the server at which lock is held by owner.
func reaches(lock, owner string) map[string]string {
	return map[string]string{
		"ls": owner, "show " + lock: owner, "held " + lock: owner, "watch --for 300ms": owner, "run --wait 0 other -- echo ran": "ran",
		"doctor --read-only": "ok    tracking", "__complete show " + lock[:1]: lock,
	}
}

// Servers whose names only --via knows are reached by all commands: the URL's host, and those that a cluster announces.
func TestAnnouncedAddressesAreReachedVia(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) (inside, outside string, via []string){
		"single": func(t *testing.T) (string, string, []string) {
			s := redistest.Start(t)
			return s.URL(), "redis://inside.invalid:1", []string{"inside.invalid:1=" + s.Addr()}
		},
		"replicated": func(t *testing.T) (string, string, []string) {
			set := redistest.StartReplicated(t, 1)
			return set.URL(), "redis+replicated://a.invalid:1,b.invalid:2", []string{"a.invalid:1=" + set.Nodes[0].Addr(), "B.invalid=" + set.Nodes[1].Addr()}
		},
		"cluster": func(t *testing.T) (string, string, []string) {
			c := topologytest.StartReplicated(t, 1, 1)
			for i := range c.Servers {
				for _, set := range [][2]string{{"cluster-announce-hostname", "inside.invalid"}, {"cluster-preferred-endpoint-type", "hostname"}} {
					if _, err := c.Conn(i).Do("CONFIG", "SET", set[0], set[1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			for i := range c.Servers {
				becomes(t, "each server announces the names of all", func() bool {
					slots, err := redis.Values(c.Conn(i).Do("CLUSTER", "SLOTS"))
					return err == nil && strings.Count(fmt.Sprintf("%s", slots), "inside.invalid") == len(c.Servers)
				}, nothing)
			}
			return "", "redis+cluster://seed.invalid:1", []string{"seed.invalid:1=" + c.Servers[0].Addr(), "inside.invalid=127.0.0.1"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inside, outside, via := start(t)
			var flags []string
			for _, one := range via {
				flags = append(flags, "--via", one)
			}
			opts := []rlock.Option{}
			if inside == "" { // there is no other way in
				dialer, err := (&server{via: via}).dialer()
				if err != nil {
					t.Fatal(err)
				}
				inside, opts = outside, append(opts, rlock.WithDialer(dialer))
			}
			for _, lock := range []string{"a", "b", "c"} { // of several shards
				h := acquire(t, open(t, inside, opts...).NewLock(lock))
				for args, want := range reaches(lock, h.Owner().String()) {
					all := append(flags[:len(flags):len(flags)], strings.Fields(args)...)
					if strings.HasPrefix(args, "__complete") {
						all = append([]string{"__complete"}, append(flags[:len(flags):len(flags)], strings.Fields(args)[1:]...)...)
					}
					c := begin(t, outside, all...)
					if got := c.status(); got != 0 && !(got == 1 && args == "doctor --read-only") || !strings.Contains(c.out.String(), want) {
						t.Errorf("%q: status %d, %s%s", all, got, &c.out, &c.err)
					}
				}
				if err := h.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// The Sentinels announce a master that can't be reached, because nothing is there any more. --via leads to another one.
func TestAddressOfSentinelsIsReachedVia(t *testing.T) {
	t.Parallel()
	set, other := redistest.StartSentinels(t, redistest.SentinelPasswords{}), redistest.Start(t)
	h := acquire(t, open(t, other.URL()).NewLock("orders"))
	master := set.Master()
	flags := []string{"--via", master.Addr() + "=" + other.Addr()}
	rest := strings.TrimPrefix(set.URL(), "redis+sentinel://")
	_, name, _ := strings.Cut(rest, "/")
	url := "redis+sentinel://"
	for i, s := range set.Sentinels {
		flags = append(flags, "--via", fmt.Sprintf("sentinel%d.invalid:%d=%s", i, i+1, s.Addr()))
		url += fmt.Sprintf("sentinel%d.invalid:%d,", i, i+1)
	}
	url = strings.TrimSuffix(url, ",") + "/" + name
	master.Kill()
	for args, want := range reaches("orders", h.Owner().String()) {
		if strings.HasPrefix(args, "__complete") || strings.HasPrefix(args, "run") { // the other has no replicas, which run waits for
			continue
		}
		c := begin(t, url, append(flags[:len(flags):len(flags)], strings.Fields(args)...)...)
		if got := c.status(); got != 0 && !(got == 1 && args == "doctor --read-only") || !strings.Contains(c.out.String(), want) {
			t.Errorf("%q: status %d, %s%s", args, got, &c.out, &c.err)
		}
	}
	ended(t, unreachable, set.URL(), "show", "orders")
}

// TLS verifies the name that is announced.
func TestViaKeepsTheNameForTLS(t *testing.T) {
	t.Parallel()
	cert, key, _ := certificate(t) // for example.com too
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	redistest.Start(t, "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert, "--tls-auth-clients", "no")
	for host, status := range map[string]int{"example.com": 0, "another.example.org": unreachable} {
		for _, args := range [][]string{{"ls"}, {"run", "lock", "--", "true"}} {
			ended(t, status, "rediss://"+host+":1", append([]string{"--tls-ca", cert, "--via", host + "=" + addr}, args...)...)
		}
	}
}

// An address that is not given is dialled as it is, and a wrong one is refused.
func TestViaReadsAddresses(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for _, bad := range []string{"", "a", "a=", "=b", "a=b=c", "a:x=b", "a:1=b:99999", "a:=b", "[::1=b/c"} {
		if out := ended(t, usage, s.URL(), "--via", bad, "ls"); !strings.Contains(out, "--via "+bad+": it is FROM=TO") {
			t.Errorf("%q: %s", bad, out)
		}
	}
	ended(t, usage, s.URL(), "--via", "a:1=b", "--via", "A:1=c", "ls")
	ended(t, 0, s.URL(), "--via", "elsewhere.invalid=localhost:1", "ls")
	for from, to := range map[string]string{"::1": "x", "[::1]": "x", "[::1]:7": "x", "[FE80::1]:6379": "[::1]:8"} {
		d, err := (&server{via: []string{from + "=" + strings.Replace(to, "x", "127.0.0.1", 1)}}).dialer()
		if err != nil {
			t.Errorf("%q: %v", from, err)
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = d(ctx, "tcp", map[bool]string{true: "[fe80::1]:6379", false: "[::1]:7"}[strings.HasPrefix(from, "[FE")])
		if err == nil || !strings.Contains(err.Error(), map[bool]string{true: "[::1]:8", false: "127.0.0.1:7"}[strings.HasPrefix(from, "[FE")]) {
			t.Errorf("%q: %v", from, err)
		}
	}
}
