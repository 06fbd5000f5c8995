package rlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// Locks of a process that crashed are free after an hour instead of 30 s.
func ExampleWithWatchdogTimeout() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	lock := client.NewLock("reindex")
	err = lock.Do(ctx, func(ctx context.Context) error {
		left, err := lock.RemainTTL(ctx)
		fmt.Println("about", left.Round(time.Hour))
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// about 1h0m0s
}

// The client gives up a silent server after the command timeout.
func ExampleWithCommandTimeout() {
	ctx := context.Background()
	silent, err := net.Listen("tcp", "localhost:0") // accepts connections, and never replies
	if err != nil {
		log.Fatal(err)
	}
	defer silent.Close()

	_, err = rlock.Open(ctx, "redis://"+silent.Addr().String(), rlock.WithCommandTimeout(200*time.Millisecond))
	fmt.Println(errors.Is(err, rlock.ErrUnavailable))
	// Output:
	// true
}

// Only a host in between knows the server's name. This dialer stands for the one of an SSH client
// or a proxy.
func ExampleWithDialer() {
	ctx := context.Background()
	bastion := func(ctx context.Context, network, addr string) (net.Conn, error) {
		inside := map[string]string{"redis.inside:6379": strings.TrimPrefix(os.Getenv("REDIS_URL"), "redis://")}
		return new(net.Dialer).DialContext(ctx, network, inside[addr])
	}
	client, err := rlock.Open(ctx, "redis://redis.inside:6379", rlock.WithDialer(bastion))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println(client.NewLock("vault").IsLocked(ctx))
	// Output:
	// false <nil>
}

// The server's certificate is signed by an authority of your own.
func ExampleWithTLSConfig() {
	ctx := context.Background()
	url := os.Getenv("REDIS_TLS_URL")                    // rediss://redis.example.com:6379
	authority, err := os.ReadFile(os.Getenv("REDIS_CA")) // ca.pem
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client, err := rlock.Open(ctx, url, rlock.WithTLSConfig(&tls.Config{
		RootCAs: roots,
		// Certificates: client certificates, where the server asks for them.
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println(client.NewLock("vault").IsLocked(ctx))
	_, err = rlock.Open(ctx, url) // trusts the system's roots only
	fmt.Println(err != nil)
	// Output:
	// false <nil>
	// true
}

// tenant keeps a tenant's names apart from others' in the same Redis.
type tenant string

func (t tenant) Map(name string) string { return string(t) + ":" + name }

// A mapper is a pure function. This one is a string, the tenant.
func ExampleNameMapper() {
	var m rlock.NameMapper = tenant("acme")
	fmt.Println(m.Map("invoices"))
	// Output:
	// acme:invoices
}

// Java's counterpart is config.setNameMapper.
func ExampleWithNameMapper() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithNameMapper(tenant("acme")))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("invoices").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)

	fmt.Println("here it is", hold.Name())
	client, err = rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	locked, err := client.NewLock("acme:invoices").IsLocked(ctx)
	fmt.Println("in Redis it is acme:invoices:", locked, err)
	// Output:
	// here it is invoices
	// in Redis it is acme:invoices: true <nil>
}

// A Java service that maps names with Redisson 3.37.0 keeps the queue of a fair lock under the name
// before it is mapped.
func ExampleWithRedisson() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithNameMapper(tenant("acme")), rlock.WithRedisson("3.37.0"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewFairLock("refunds").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("released:", hold.Unlock(ctx) == nil)
	// Output: released: true
}

// A grant counts only when a replica has it too.
func ExampleWithReplicaSync() {
	ctx := context.Background()
	replica, err := redis.DialURL(os.Getenv("REDIS_REPLICA_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer replica.Close()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_MASTER_URL"), rlock.WithReplicaSync(true))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	hold, err := client.NewLock("ledger").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	fmt.Println(redis.Bool(replica.Do("EXISTS", "ledger")))
	// Output:
	// true <nil>
}

// A fleet that is all Go, with locks that are held only for a moment, has no slow
// clients to leave room for.
func ExampleWithCourtesy() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithCourtesy(false))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.NewLock("ticks").Do(ctx, func(context.Context) error {
		fmt.Println("ticked")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ticked
}

// Warnings are what an operator needs to know: lost leases, lost connections and
// uncertain outcomes.
func ExampleWithLogger() {
	ctx := context.Background()
	brief := &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		switch a.Key {
		case slog.LevelKey, slog.MessageKey, "lock":
			return a
		}
		return slog.Attr{} // time, owner and others: different each time
	}}
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"),
		rlock.WithLogger(slog.New(slog.NewTextHandler(os.Stdout, brief))))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	lock := client.NewLock("gate")
	if _, err := lock.Lock(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := lock.ForceUnlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// level=WARN msg="lease lost" lock=gate
}

// The client asks for the password each time it connects.
func ExampleWithCredentials() {
	ctx := context.Background()
	vault := func(ctx context.Context) (user, password string, err error) {
		return "worker", "of-today", nil
	}
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithCredentials(vault))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println(client.NewLock("till").IsLocked(ctx))
	// Output:
	// false <nil>
}

// Contexts end five seconds before their lease if renewals fail.
func ExampleWithMargin() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithMargin(5*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = client.NewLock("gate").TryLock(ctx, rlock.Lease(6*time.Second))
	fmt.Println(err)
	// Output:
	// rlock: acquire "gate": invalid option: a Margin of 5s; at most half of the lease, which is 6s
}

// The log shows each lock that is held for more than a minute.
func ExampleWithLongHoldLog() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithLogger(slog.Default()), rlock.WithLongHoldLog(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	fmt.Println(client.NewLock("gate").Do(ctx, func(context.Context) error { return nil }))
	// Output:
	// <nil>
}

// A service starts though its Redis does not run yet. Until it does, calls fail as in an outage.
func ExampleWithLazyConnect() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, "redis://127.0.0.1:1", rlock.WithLazyConnect(), rlock.WithCommandTimeout(100*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	_, err = client.NewLock("invoices").TryLock(ctx)
	fmt.Println(errors.Is(err, rlock.ErrUnavailable))
	// Output:
	// true
}

// The name leads an operator from an owner to its process, by CLIENT LIST.
func ExampleWithConnectionName() {
	ctx := context.Background()
	host, err := os.Hostname()
	if err != nil {
		log.Fatal(err)
	}
	name := fmt.Sprintf("billing@%s:%d:", host, os.Getpid())
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithConnectionName(name+"{id}"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	operator, err := redis.DialURL(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer operator.Close()
	list, err := redis.String(operator.Do("CLIENT", "LIST"))
	fmt.Println(strings.Contains(list, " name="+name+client.ID().String()+" "), err)
	// Output:
	// true <nil>
}

// A fair lock passes over a dead waiter after ten seconds instead of five minutes. A live one may
// have to queue again.
func ExampleWithFairWait() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithFairWait(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.NewFairLock("label printer").Do(ctx, func(context.Context) error {
		fmt.Println("printing")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// printing
}
