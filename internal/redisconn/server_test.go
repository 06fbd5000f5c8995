package redisconn

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// hello is the reply of HELLO.
func hello(mode, role string) []any {
	return []any{[]byte("server"), []byte("redis"), []byte("proto"), int64(2), []byte("mode"), []byte(mode), []byte("role"), []byte(role), []byte("modules"), []any{}}
}

func TestServerTellsWhetherItIsASingleMaster(t *testing.T) {
	unknown := redis.Error("ERR unknown command 'HELLO'")
	denied := redis.Error("NOPERM this user has no permissions to run the 'role' command")
	master := []any{[]byte("master"), int64(7), []any{}}
	slave := []any{[]byte("slave"), []byte("10.0.0.7"), int64(6379), []byte("connect"), int64(-1)}
	for name, row := range map[string]struct {
		hello    any
		helloErr error
		role     any
		roleErr  error
		says     string // empty: the server is usable
		topology bool
	}{
		"a master":                        {hello("standalone", "master"), nil, master, nil, "", false},
		"a master that hides its role":    {hello("standalone", "master"), nil, nil, denied, "", false},
		"an old master":                   {nil, unknown, master, nil, "", false},
		"one that says nothing":           {nil, unknown, nil, denied, "", false},
		"a replica":                       {hello("standalone", "replica"), nil, slave, nil, "the server is a replica of 10.0.0.7:6379 (link down); use the master", false},
		"a replica that hides its role":   {hello("standalone", "replica"), nil, nil, denied, "the server is a replica; use the master", false},
		"an old replica":                  {nil, unknown, slave, nil, "is a replica of", false},
		"a Sentinel":                      {hello("sentinel", "master"), nil, []any{[]byte("sentinel"), []any{}}, nil, "redis+sentinel://", true},
		"an old Sentinel":                 {nil, unknown, []any{[]byte("sentinel"), []any{}}, nil, "redis+sentinel://", true},
		"a master of a cluster":           {hello("cluster", "master"), nil, master, nil, "redis+cluster://", true},
		"a replica of a cluster's":        {hello("cluster", "replica"), nil, slave, nil, "redis+cluster://", true},
		"a mode that nobody knows":        {hello("mesh", "master"), nil, master, nil, "", false},
		"a HELLO of something else":       {[]byte("hello"), nil, master, nil, "HELLO", false},
		"a ROLE of something else":        {hello("standalone", "master"), nil, "OK", nil, "ROLE", false},
		"an empty ROLE":                   {hello("standalone", "master"), nil, []any{}, nil, "ROLE", false},
		"a ROLE that begins with no word": {hello("standalone", "master"), nil, []any{int64(1)}, nil, "ROLE", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := DecodeServer(row.hello, row.helloErr, row.role, row.roleErr)
			if err == nil {
				err = s.Usable()
			}
			if row.says == "" && err != nil || row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says)) {
				t.Errorf("got %v, want %q", err, row.says)
			}
			if errors.Is(err, ErrTopology) != row.topology || err != nil && Permanent(err) != row.topology {
				t.Errorf("%v: of another topology %t, permanent %t", err, errors.Is(err, ErrTopology), Permanent(err))
			}
		})
	}
}

func TestOnlyANameCanMove(t *testing.T) {
	for address, want := range map[string]bool{
		"redis.internal:6379": true, "localhost:6379": true, "127.0.0.1:6379": false, "[::1]:6379": false, "[fe80::1%eth0]:6379": false,
	} {
		if got := (&Target{Address: address}).Named(); got != want {
			t.Errorf("%s: %t", address, got)
		}
	}
}

func TestPeerIsAmongTheAddressesInAnyForm(t *testing.T) {
	addresses := []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("::ffff:10.0.0.2"), netip.MustParseAddr("fe80::1%eth0")}
	for peer, want := range map[string]bool{"10.0.0.1": true, "10.0.0.2": true, "fe80::1": true, "10.0.0.3": false, "::1": false} {
		if got := contains(addresses, netip.MustParseAddr(peer)); got != want {
			t.Errorf("%s: %t", peer, got)
		}
	}
}

func TestRefusalOfChangingCredentialsIsNotForGood(t *testing.T) {
	refusal := redis.Error("WRONGPASS invalid username-password pair or user is disabled.")
	if !Permanent(refusal) || Permanent(credentialsError{refusal}) {
		t.Errorf("for good: %t of a URL's, %t of those that are asked for", Permanent(refusal), Permanent(credentialsError{refusal}))
	}
	if e := (credentialsError{refusal}); !errors.Is(e, refusal) {
		t.Error("the server's words are not in it")
	}
}
