package javapeer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

const (
	// Newest is the Redisson release whose bytes the library reproduces.
	Newest = "4.7.0"
	// Oldest is the first release that was looked at.
	Oldest = "3.11.6"
)

// Recorded are all the releases whose traffic was looked at.
var Recorded = []string{Newest, "4.3.0", "3.52.0", "3.37.0", "3.27.2", "3.21.3", "3.16.8", Oldest}

// either are all the releases that were recorded but the oldest ones, or some of them.
func either(full bool, without int, some ...string) []string {
	if full {
		return slices.Clone(Recorded[:len(Recorded)-without])
	}
	return some
}

// Versions are the releases that interoperation tests run against: the newest and the oldest; in full, all that were recorded.
func Versions(full bool) []string { return either(full, 0, Newest, Oldest) }

// FencedVersions are the releases that tests of [Fenced] run against: the newest of each line; in full, all that were
// recorded and have it.
func FencedVersions(full bool) []string { return either(full, 2, Newest, "3.52.0") }

// SpinVersions are the releases that tests of [Spin] run against: the newest and one without latches; in full, all that
// were recorded and have it.
func SpinVersions(full bool) []string { return either(full, 1, Newest, "3.21.3") }

// FairVersions are the releases that tests of [Fair] run against: the newest; in full, all that were recorded but [Oldest],
// which keeps no order.
func FairVersions(full bool) []string { return either(full, 1, Newest) }

// ReadWriteVersions are the releases that tests of [Read] and [Write] run against: the newest and one without latches; in
// full, all that were recorded.
func ReadWriteVersions(full bool) []string { return either(full, 0, Newest, "3.21.3") }

// PermitVersions are the releases that tests of permits run against: the newest of each line, and the first whose ids Go's
// are like; in full, all that were recorded.
func PermitVersions(full bool) []string { return either(full, 0, Newest, "3.21.3") }

// Beside runs a test beside each of some releases, all at once.
func Beside(t *testing.T, versions []string, test func(t *testing.T, version string)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// newestProject asks Maven for whatever Redisson was released last.
const newestProject = `<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>rlock</groupId>
  <artifactId>newest</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.redisson</groupId>
      <artifactId>redisson</artifactId>
      <version>RELEASE</version>
    </dependency>
  </dependencies>
</project>
`

var resolved = regexp.MustCompile(`org\.redisson:redisson:jar:([^:\s]+):`)

// Released is the version of the last release of Redisson, which may be one that nobody here has tried. Maven asks the
// repositories that it is configured for. It blocks until that is answered or ctx ends.
func Released(ctx context.Context) (string, error) {
	mvn, err := tool("mvn")
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "newest-")
	if err != nil {
		return "", fmt.Errorf("javapeer: %w", err)
	}
	defer os.RemoveAll(dir)
	list := filepath.Join(dir, "list")
	if err := os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(newestProject), 0o644); err != nil {
		return "", fmt.Errorf("javapeer: %w", err)
	}
	// Without -U a day-old answer would do.
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-U", "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:list",
		"-DexcludeTransitive=true", "-DoutputFile="+list)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("javapeer: asking for the newest Redisson: %w\n%s", errors.Join(err, ctx.Err()), tail(out.Bytes()))
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return "", fmt.Errorf("javapeer: %w", err)
	}
	return parseReleased(text)
}

func parseReleased(list []byte) (string, error) {
	m := resolved.FindSubmatch(list)
	if m == nil || !versionForm.Match(m[1]) {
		return "", fmt.Errorf("javapeer: Maven names no release of Redisson:\n%s", tail(list))
	}
	return string(m[1]), nil
}
