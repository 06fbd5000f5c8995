package topology

import (
	"slices"
	"strings"
	"testing"
)

func TestSentinelURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]struct {
		sentinels      []string
		name           string
		user, password string
		database       int
	}{
		"redis+sentinel://h:1/m":                    {sentinels: []string{"h:1"}, name: "m"},
		"redis+sentinel://h/m":                      {sentinels: []string{"h:26379"}, name: "m"},
		"redis+sentinel://h,i:2,h:26379/m_1.a-B/":   {sentinels: []string{"h:26379", "i:2"}, name: "m_1.a-B"},
		"redis+sentinel://[::1]:7,[::2],10.0.0.1/m": {sentinels: []string{"[::1]:7", "[::2]:26379", "10.0.0.1:26379"}, name: "m"},
		"redis+sentinel://u:p%40%2f@h:1,i:2/m/3":    {sentinels: []string{"h:1", "i:2"}, name: "m", user: "u", password: "p@/", database: 3},
		"redis+sentinel://:p@h:1/m/0":               {sentinels: []string{"h:1"}, name: "m", password: "p"},
	} {
		got, err := parseSentinelURL(url)
		if err != nil || !slices.Equal(got.Servers, want.sentinels) || got.Master != want.name ||
			got.Target.Username != want.user || got.Target.Password != want.password || got.Target.Database != want.database {
			t.Errorf("%s: %+v, %v", url, got, err)
		}
	}
}

func TestMalformedSentinelURLs(t *testing.T) {
	t.Parallel()
	const secret = "topsecret"
	for rest, part := range map[string]string{
		"":                          "host",
		"/m":                        "host",
		"h:1":                       "master's name",
		"h:1/":                      "master's name",
		"h:1//0":                    "master's name",
		"h:1/a%20b":                 "master's name",
		"h:1/a%zz":                  "master's name",
		"h:1/m/x":                   "database",
		"h:1/m/-1":                  "database",
		"h:1/m/0/1":                 "database",
		"h:1,/m":                    "host",
		"h:1,,i:2/m":                "host",
		"h:1,i:x/m":                 "host 2: the port is not a number",
		"h:1/m\n":                   "a newline at the end",
		"h:1,i:0/m":                 "port",
		"h:1,i:/m":                  "port",
		"h:1,[::1/m":                "host",
		"h:1/m?db=1":                "query",
		"h:1/m#1":                   "fragment",
		"h:1#x/m":                   "fragment",
		"u:" + secret + "/x@h:1/m":  "url",
		"u:" + secret + "%zz@h:1/m": "malformed",
		"u@h:1/m":                   "password",
	} {
		url := "redis+sentinel://" + rest
		_, err := parseSentinelURL(url)
		if err == nil || !strings.HasPrefix(err.Error(), "url: ") || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v does not name %s", url, err, part)
			continue
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), url) {
			t.Errorf("%s: %v tells a secret", url, err)
		}
	}
}
