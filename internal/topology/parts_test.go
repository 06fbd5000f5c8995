package topology

import (
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
