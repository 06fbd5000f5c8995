package topology

import (
	"context"
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/clock"
)

func TestURLsOfClusters(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"redis+cluster://h":                        "h:6379",
		"redis+cluster://a:1,b:2,[fd00::1]:3/":     "a:1,b:2,[fd00::1]:3",
		"redis+cluster://u:p@a:1,b":                "a:1,b:6379",
		"redis+cluster://:p%40%2f@a:1":             "a:1",
		"REDIS+CLUSTER://h":                        "h:6379",
		"redis+cluster://u:secret@a:1,b:notaport":  "!host 2: the port is not a number",
		"redis+cluster://u:secret@a:1/\r\n":        "!a newline at the end",
		"redis+cluster://u:secret@a:1,":            "!host 2",
		"redis+cluster://":                         "!no host",
		"redis+cluster://u:secret@a:1/0":           "!are in database 0",
		"redis+cluster://u:sec/ret@a:1":            "!percent-encoded",
		"redis+cluster://u:secret@a:1?db=1":        "!query",
		"redis+cluster://u:secret@a:1#x":           "!fragment",
		"redis+cluster://u@a:1":                    "!a user without a password",
		"redis+cluster://a:1,u:secret@b:2,c:70000": "!host",
	} {
		top, err := Open(url, Settings{Timeout: time.Second, Clock: clock.System()})
		if wrong, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), wrong) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, want %s", url, err, wrong)
			}
			continue
		}
		if err != nil || top.String() != want || top.SpansSlots() {
			t.Errorf("%s: %v, %v", url, top, err)
			continue
		}
		top.Close(0)
	}
}

func TestServersOfAClusterAreReachedAlike(t *testing.T) {
	t.Parallel()
	given := &tls.Config{}
	top, err := Open("redis+cluster://u:p@a:1", Settings{Timeout: time.Second, Clock: clock.System(), TLS: given, ConnectionName: "n"})
	if err != nil {
		t.Fatal(err)
	}
	defer top.Close(0)
	at := top.(*Cluster).target.At("b.example:2")
	if at.Address != "b.example:2" || at.Username != "u" || at.Password != "p" || at.Name != "n" || at.TLS == nil ||
		at.TLS.ServerName != "b.example" || given.ServerName != "" {
		t.Errorf("it is reached by %+v", at)
	}
	if _, err := Open("redis+cluster://u:p@a:1", Settings{Credentials: func(context.Context) (string, string, error) { return "", "", nil }}); err == nil {
		t.Error("credentials of the URL, and of a function")
	}
}
