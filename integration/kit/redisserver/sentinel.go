package redisserver

import (
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// TLSSentinel starts a Sentinel with a certificate of the master's authority, and returns its TLS address. It monitors
// redistest.MasterName at the master's TLS address. It can't connect there, and so reports the master as down.
func TLSSentinel(t testing.TB, master *TLSServer) (addr string) {
	t.Helper()
	cert, key, ca := master.Authority.Write(t, t.TempDir(), master.Authority.Issue(t, "localhost", "127.0.0.1"))
	host, port, err := net.SplitHostPort(master.Addr())
	if err != nil {
		t.Fatal(err)
	}
	own := redistest.FreePort(t)
	redistest.StartSentinel(t, "",
		fmt.Sprintf("sentinel monitor %s %s %s 1", redistest.MasterName, host, port),
		fmt.Sprint("tls-port ", own), fmt.Sprintf("tls-cert-file %q", cert), fmt.Sprintf("tls-key-file %q", key), fmt.Sprintf("tls-ca-cert-file %q", ca), "tls-auth-clients no")
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(own))
}
