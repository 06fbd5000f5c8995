package main

import (
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Each cause by which two sides get inside has its own line. The keys and channels are those of Redisson; integration/redisson
// has the same with Redisson itself.
func TestDoctorFindsWhatLetsTwoSidesIn(t *testing.T) {
	t.Parallel()
	const (
		java  = "11111111-1111-4111-8111-111111111111:1"
		other = "22222222-2222-4222-8222-222222222222:7"
	)
	lock := func(name, owner string) []string { // with a lease of 30 s
		return []string{"HSET " + name + " " + owner + " 1", "PEXPIRE " + name + " 30000"}
	}
	all := func(parts ...[]string) (commands []string) {
		for _, p := range parts {
			commands = append(commands, p...)
		}
		return commands
	}
	for name, row := range map[string]struct {
		commands  []string
		subscribe string // a channel
		status    int
		want      string // part of the output
		not       string // no part of it; empty: nothing
	}{
		"nothing":                    {lock("orders", java), "redisson_lock__channel:{orders}", 0, "ok    databases", "warn  names"},
		"a name in two databases":    {all(lock("orders", java), []string{"SELECT 1"}, lock("orders", other)), "", 1, "todo  databases     orders is held in database 0 and in database 1 at once", ""},
		"waiters of another's name":  {all([]string{"SELECT 3"}, lock("orders", java)), "redisson_lock__channel:{orders}", 0, "warn  databases     orders is waited for, and is held in database 3, not in 0", ""},
		"its fair waiters":           {all([]string{"SELECT 3"}, lock("orders", java)), "redisson_lock__channel:{orders}:" + other, 0, "warn  databases     orders is waited for", ""},
		"its readers":                {all([]string{"SELECT 3"}, lock("orders", java)), "redisson_rwlock:{orders}", 0, "warn  databases     orders is waited for", ""},
		"another database's names":   {all([]string{"SELECT 3"}, lock("orders", java)), "", 0, "ok    databases", ""},
		"a queue without the mapper": {all(lock("app:orders", java), []string{"RPUSH redisson_lock_queue:{orders} " + other, "ZADD redisson_lock_timeout:{orders} 9999999999999 " + other}), "", 1, "todo  fair queues   the queue of orders has 1 waiting and no holder, and app:orders is held", ""},
		"a queue with its lock":      {all(lock("app:orders", java), []string{"RPUSH redisson_lock_queue:{app:orders} " + other, "ZADD redisson_lock_timeout:{app:orders} 9999999999999 " + other}), "", 0, "ok    fair queues", ""},
		"a name mapped twice": {all(lock("app:app:doc", java), lock("app:doc", other), []string{"HSET app:app:doc mode write", "HSET app:doc mode write"}), "", 1,
			`todo  names         app:app:doc and app:doc are both held. With a NameMapper that puts "app:"`, ""},
		"a name mapped on one side":   {all(lock("app:orders", java), lock("orders", other)), "", 0, "warn  names         app:orders and orders are held by different clients", ""},
		"two names of one client":     {all(lock("app:orders", java), lock("orders", java)), "", 0, "ok    names", ""},
		"two names that end the same": {all(lock("reorders", java), lock("orders", other)), "", 0, "ok    names", ""},
		"a foreign owner":             {all(lock("orders", java), []string{"HSET orders host-7:main 1"}), "", 1, "todo  owners        orders has the owner host-7:main", ""},
		"only a foreign owner":        {[]string{"HSET orders host-7:main 1"}, "redisson_lock__channel:{orders}", 1, "todo  owners        orders has the owner host-7:main", ""},
		"a hash of another program":   {[]string{"HSET session user 1"}, "", 0, "ok    owners", ""},
		"a longer watchdog timeout":   {all(lock("orders", java), []string{"PEXPIRE orders 45000"}), "", 0, "warn  leases        orders has 4", ""},
		"two leases": {all(lock("orders", java), lock("bills", other), []string{"PEXPIRE orders 45000", "PEXPIRE bills 45000"}), "", 0,
			"sets the lease of all its holders (and 1 more)", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t, "--appendonly", "yes")
			c := s.Dial(t)
			for _, text := range row.commands {
				w := strings.Fields(text)
				if _, err := c.Do(w[0], words(strings.Join(w[1:], " "))...); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			if row.subscribe != "" {
				listens := redis.PubSubConn{Conn: s.Dial(t)}
				if err := listens.Subscribe(row.subscribe); err != nil {
					t.Fatal(err)
				}
				if said, ok := listens.Receive().(redis.Subscription); !ok {
					t.Fatal(said)
				}
			}
			out := ended(t, row.status, s.URL(), "doctor", "--read-only")
			if !strings.Contains(out, row.want) || row.not != "" && strings.Contains(out, row.not) {
				t.Errorf("%s\nlacks %q", out, row.want)
			}
		})
	}
}
