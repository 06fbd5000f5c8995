package redisconn

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	for _, row := range []struct {
		url, address, user, password string
		db                           int
		tls                          bool
	}{
		{"redis://h", "h:6379", "", "", 0, false},
		{"redis://h:1", "h:1", "", "", 0, false},
		{"redis://h/", "h:6379", "", "", 0, false},
		{"redis://h:7000/3", "h:7000", "", "", 3, false},
		{"redis://:p@h", "h:6379", "", "p", 0, false},
		{"redis://u:p%40%3A%2F%23@h:1/2", "h:1", "u", "p@:/#", 2, false},
		{"redis://u:p:q@h", "h:6379", "u", "p:q", 0, false},
		{"redis://u:p@q@h", "h:6379", "u", "p@q", 0, false},
		{"rediss://[::1]:6380", "[::1]:6380", "", "", 0, true},
		{"valkey://u:p@h/2", "h:6379", "u", "p", 2, false},
		{"valkeys://h:1", "h:1", "", "", 0, true},
		{"unix:///run/redis.sock", "/run/redis.sock", "", "", 0, false},
		{"unix://u:p%3F@/run/a:b,c.sock?db=3", "/run/a:b,c.sock", "u", "p?", 3, false},
		{"rediss://u:p@h.example", "h.example:6379", "u", "p", 0, true},
		{"REDIS://H:1", "H:1", "", "", 0, false},
		{"ReDISS://h", "h:6379", "", "", 0, true},
		{"VALKEYS://h", "h:6379", "", "", 0, true},
		{"UNIX:///Run/x", "/Run/x", "", "", 0, false},
	} {
		got, err := ParseURL(row.url)
		if err != nil {
			t.Errorf("%s: %v", row.url, err)
			continue
		}
		if got.Address != row.address || got.Username != row.user || got.Password != row.password || got.Database != row.db || (got.TLS != nil) != row.tls {
			t.Errorf("%s: got %+v", row.url, got)
		}
	}
}

func TestMalformedURLNamesThePartAndHidesTheRest(t *testing.T) {
	const secret = "s3cr3t"
	for url, part := range map[string]string{
		"h:6379":                           "scheme",
		"http://u:" + secret + "@h":        "scheme",
		secret + "://h":                    "scheme",
		"redis://u:" + secret + "@":        "host",
		"redis://u:" + secret + "@:6379":   "host",
		"redis://u:" + secret + "/x@h:1":   "malformed",
		"redis://u:" + secret + "#x@h:1":   "fragment",
		"redis://u:" + secret + "%zz@h":    "malformed",
		"redis://u:" + secret + "@h:p":     "the port is not a number from 1 to 65535",
		"redis://[::1]:6379x":              "the port is not a number from 1 to 65535",
		"redis://u:" + secret + "@::1:p":   "malformed",
		"redis://u:" + secret + "@h:":      "port",
		"redis://u:" + secret + "@h:0":     "port",
		"redis://u:" + secret + "@h:65536": "port",
		"redis://u:" + secret + "@h/x":     "database",
		"redis://u:" + secret + "@h/-1":    "database",
		"redis://u:" + secret + "@h/1/2":   "database",
		"redis://u:" + secret + "@h?x=1":   "query",
		"redis://" + secret + "@h":         "password",
		"redis://u:" + secret + "@h:1\n":   "a newline at the end",
		"redis://u:" + secret + "@h:1\r\n": "a newline at the end",
		"redis://u:" + secret + "\n@h:1":   "control character",
		" redis://u:" + secret + "@h:1":    "a space",
		"unix://u:" + secret + "@":         "three slashes",
		"unix://u:" + secret + "@h/x":      "three slashes",
		"unix://:" + secret + "@/":         "three slashes",
		"unix://:" + secret + "@/x?db=a":   "database",
		"unix://:" + secret + "@/x?y=1":    "?db=",
	} {
		_, err := ParseURL(url)
		if err == nil {
			t.Errorf("%s: no error", url)
			continue
		}
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q does not name %s", url, err, part)
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), url) {
			t.Errorf("%s: %q tells a secret", url, err)
		}
	}
	for _, url := range []string{"redis+sentinel://h:1/m", "redis+cluster://h:1,h:2", "Redis+Cluster://h:1"} {
		if _, err := ParseURL(url); !errors.Is(err, ErrTopology) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestServersAreVerifiedByTheirOwnHost(t *testing.T) {
	if plain := (&Target{}).At("h:1"); plain.TLS != nil || plain.Address != "h:1" {
		t.Errorf("reached by %+v", plain)
	}
	given := &tls.Config{}
	if at := (&Target{TLS: given}).At("[fd00::1]:7"); at.TLS.ServerName != "fd00::1" || at.TLS.MinVersion != tls.VersionTLS12 {
		t.Errorf("server name %q, version %d", at.TLS.ServerName, at.TLS.MinVersion)
	}
	if given.ServerName != "" {
		t.Error("the caller's config was changed")
	}
	if at := (&Target{TLS: &tls.Config{ServerName: "other", MinVersion: tls.VersionTLS13}}).At("h:1"); at.TLS.ServerName != "other" || at.TLS.MinVersion != tls.VersionTLS13 {
		t.Errorf("server name %q, version %d", at.TLS.ServerName, at.TLS.MinVersion)
	}
}
