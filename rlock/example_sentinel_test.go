package rlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// A Sentinel has its own accounts; the URL's user and password are for the
// master.
func ExampleWithSentinelCredentials() {
	ctx := context.Background()
	url := os.Getenv("REDIS_SENTINEL_URL") // redis+sentinel://s1:26379,s2:26379,s3:26379/orders
	client, err := rlock.Open(ctx, url, rlock.WithSentinelCredentials(func(context.Context) (user, password string, err error) {
		return "", "mellon", nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.NewLock("vault").IsLocked(ctx))

	_, err = rlock.Open(ctx, url)
	fmt.Println(err != nil)
	// Output:
	// false <nil>
	// true
}

// The option is for the Sentinels alone: the connection to the master stays in
// plain text, because WithTLSConfig is not given.
func ExampleWithSentinelTLSConfig() {
	ctx := context.Background()
	url := os.Getenv("REDIS_SENTINEL_TLS_URL")           // redis+sentinel://sentinel.example.com:26379/orders
	authority, err := os.ReadFile(os.Getenv("REDIS_CA")) // ca.pem
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client, err := rlock.Open(ctx, url, rlock.WithSentinelTLSConfig(&tls.Config{RootCAs: roots}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.NewLock("vault").IsLocked(ctx))
	// Output:
	// false <nil>
}
