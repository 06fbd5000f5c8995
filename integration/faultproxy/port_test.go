package faultproxy_test

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
)

// ipLocalPortRange is IP_LOCAL_PORT_RANGE of Linux 6.3: from which ports the system chooses for one socket.
const ipLocalPortRange = 51

// A client that finds nobody at its proxy's port must not find another test's server there.
func TestPortOfRefusedConnectionsIsNobodyElses(t *testing.T) {
	r := newRig(t)
	_, text, err := net.SplitHostPort(r.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	r.proxy.Refuse(true)
	if err := chosen(t, number); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("the port of a proxy that refuses connections is given away: %v", err)
	}
	r.proxy.Refuse(false)
	must(t, r.dial(patient), "PING")
	other := faultproxy.Start(t, r.proxy.Server())
	if other.Addr() == r.proxy.Addr() {
		t.Errorf("two proxies at %s", other.Addr())
	}
}

// chosen has the system choose a free port when there is only one to choose from.
func chosen(t *testing.T, number int) error {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	switch err := syscall.SetsockoptInt(fd, syscall.IPPROTO_IP, ipLocalPortRange, number<<16|number); {
	case errors.Is(err, syscall.ENOPROTOOPT) && os.Getenv("CI") != "true":
		t.Skip("this system can't be told from which ports to choose")
	case err != nil:
		t.Fatal(err)
	}
	return syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
}
