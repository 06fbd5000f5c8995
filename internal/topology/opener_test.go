package topology

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/clock"
)

func TestParseTellsTheTopologiesApart(t *testing.T) {
	for url, want := range map[string]struct {
		servers, master string
		cluster         bool
	}{
		"redis://u:secret@h:1/2":                   {"h:1", "", false},
		"redis+sentinel://u:secret@h:1,i/orders/2": {"h:1,i:26379", "orders", false},
		"redis+cluster://u:secret@h:1,i":           {"h:1,i:6379", "", true},
	} {
		p, err := Parse(url)
		if err != nil || !slices.Equal(p.Servers, strings.Split(want.servers, ",")) || p.Master != want.master || p.Cluster != want.cluster ||
			p.Target.Username != "u" || p.Target.Password != "secret" {
			t.Errorf("%s: %+v, %v", url, p, err)
		}
		if _, err := Parse(url + "?secret"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s?secret: %v", url, err)
		}
	}
}

// The case of a scheme means nothing, also for what depends on the scheme.
func TestSchemesHaveNoCase(t *testing.T) {
	for _, url := range []string{"redis://h", "rediss://h", "unix:///x", "redis+sentinel://h/m", "redis+cluster://h", "redis+replicated://h"} {
		scheme, rest, _ := strings.Cut(url, "://")
		loud := strings.ToUpper(scheme) + "://" + rest
		if HasReplicas(loud) != HasReplicas(url) {
			t.Errorf("%s: replicas: %t", loud, HasReplicas(loud))
		}
		for _, s := range []Settings{{Clock: clock.System()}, {TLS: &tls.Config{}, Clock: clock.System()}, {SentinelTLS: &tls.Config{}, Clock: clock.System()}} {
			kinds := [2]string{}
			for i, url := range []string{url, loud} {
				top, err := Open(url, s)
				if kinds[i] = fmt.Sprintf("%T", top); err == nil {
					top.Close(0)
				}
			}
			if kinds[0] != kinds[1] {
				t.Errorf("%s: %s, but of %s %s", loud, kinds[1], url, kinds[0])
			}
		}
	}
}

// Each topology's file has a constant with its scheme. Those of a single server are here.
func TestErrorsOfSchemesNameEachThatOpenTakes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	schemes := []string{"redis", "rediss", "valkey", "valkeys", "unix"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^const \w+Scheme = "(.+)"`).FindAllSubmatch(text, -1) {
			schemes = append(schemes, string(m[1]))
		}
	}
	if len(schemes) < 7 {
		t.Fatalf("only %q", schemes)
	}
	for _, scheme := range schemes {
		for _, raw := range []string{"host:6379", "http://host"} {
			if _, err := Open(raw, Settings{}); err == nil || !strings.Contains(err.Error(), " "+scheme+"://") {
				t.Errorf("%s: the error does not name %s: %v", raw, scheme, err)
			}
		}
		if _, err := Open("redis://a,b", Settings{}); strings.Contains(scheme, "+") && (err == nil || !strings.Contains(err.Error(), scheme+"://")) {
			t.Errorf("two hosts: the error does not name %s: %v", scheme, err)
		}
	}
}
