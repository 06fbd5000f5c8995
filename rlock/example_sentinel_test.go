package rlock_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"

	"github.com/rlock-go/redisson/rlock"
)

// A Sentinel has accounts of its own; the URL's user and password are the
// master's.
func ExampleWithSentinelCredentials() {
	ctx := context.Background()
	url := "redis+sentinel://" + sentinel("mellon") + "/orders" // redis+sentinel://s1:26379,s2:26379,s3:26379/orders
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

// The master is spoken to as WithTLSConfig says, here in plain text.
func ExampleWithSentinelTLSConfig() {
	ctx := context.Background()
	addr, ca := encryptedAt(sentinel("")) // sentinel.example.com:26379
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	client, err := rlock.Open(ctx, "redis+sentinel://"+addr+"/orders", rlock.WithSentinelTLSConfig(&tls.Config{RootCAs: roots}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.NewLock("vault").IsLocked(ctx))
	// Output:
	// false <nil>
}
