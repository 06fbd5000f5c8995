package topology

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A scheme is a constant in the file of its topology; those of one server are redis:// and rediss://.
func TestErrorsOfSchemesNameEachThatOpenTakes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	schemes := []string{"redis", "rediss"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^const \w+Scheme = "(.+)"`).FindAllSubmatch(text, -1) {
			schemes = append(schemes, string(m[1]))
		}
	}
	if len(schemes) < 4 {
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
