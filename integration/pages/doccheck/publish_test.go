package doccheck

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The comment of PublishSharded says which Redissons a release by SPUBLISH alone wakes: from a release on, unless a setting is OFF.
// Wherever a text names PublishSharded beside a release, or the Redissons that hear shards, it says the same.
func TestShardedMessagesWakeTheSameRedissonsEverywhere(t *testing.T) {
	const top = "../../../"
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	plain := func(comment string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(comment, "//", "")), " ")
	}
	says := regexp.MustCompile(`PublishSharded sends SPUBLISH alone\. It wakes waiters of this package, and of Redisson from (3\.\d+) on unless its shardedSubscriptionMode is OFF\.`)
	found := says.FindStringSubmatch(plain(read(top + "rlock/publish.go")))
	if found == nil {
		t.Fatal("the option's comment names no release, or not OFF")
	}
	release, named := regexp.MustCompile(`\b3\.\d+\b`), 0
	parts := regexp.MustCompile(`\n\n|\n- |\n\|`)
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/dev/topologies.md", "rlock/*.go", "cmd/rlock/*.go", "internal/eventlog/refusals.go"} {
		files, err := filepath.Glob(top + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, page := read(file), strings.HasSuffix(file, ".md")
			if !page {
				text = plain(text)
			}
			for _, one := range regexp.MustCompile(`Redisson (?:does )?from (3\.\d+) on\b`).FindAllStringSubmatch(text, -1) {
				if named++; one[1] != found[1] {
					t.Errorf("%s: %q, and the option's comment says %s", file, one[0], found[1])
				}
			}
			for _, part := range parts.Split(text, -1) {
				if !page || !strings.Contains(part, "PublishSharded") && !strings.Contains(part, "Redisson from 3.") || !release.MatchString(part) {
					continue
				}
				if named++; release.FindString(part) != found[1] {
					t.Errorf("%s names another release than %s: %s", file, found[1], part)
				}
				if strings.Contains(part, "ublish") && !strings.Contains(part, "spublish") && !strings.Contains(part, "shardedSubscriptionMode=OFF") {
					t.Errorf("%s does not say that a Redisson may hear no shards: %s", file, part)
				}
			}
		}
	}
	if named < 8 {
		t.Errorf("%d texts name a release", named)
	}
}
