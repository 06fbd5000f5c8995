package topology

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
