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
	// Newest is the Redisson release that the library reproduces byte for byte.
	Newest = "4.7.0"
	// Oldest is the oldest recorded release.
	Oldest = "3.11.6"
)

// Recorded are all releases whose traffic was recorded.
var Recorded = []string{Newest, "4.3.0", "3.52.0", "3.37.0", "3.27.2", "3.21.3", "3.16.8", Oldest}

// either returns, in full, the recorded releases except the oldest ones (without says how many), else some.
func either(full bool, without int, some ...string) []string {
	if full {
		return slices.Clone(Recorded[:len(Recorded)-without])
	}
	return some
}

// Versions are the releases that interoperation tests run against: newest and oldest; in full, all recorded ones.
func Versions(full bool) []string { return either(full, 0, Newest, Oldest) }

// FencedVersions are the releases that tests of [Fenced] run against: the newest of each major version; in full, all
// recorded ones that have it.
func FencedVersions(full bool) []string { return either(full, 2, Newest, "3.52.0") }

// SpinVersions are the releases that tests of [Spin] run against: the newest and one without latches; in full, all
// recorded ones that have it.
func SpinVersions(full bool) []string { return either(full, 1, Newest, "3.21.3") }

// FairVersions are the releases that tests of [Fair] run against: the newest; in full, all recorded ones but [Oldest],
// which keeps no order.
func FairVersions(full bool) []string { return either(full, 1, Newest) }

// ReadWriteVersions are the releases that tests of [Read] and [Write] run against: the newest and one without latches;
// in full, all recorded ones.
func ReadWriteVersions(full bool) []string { return either(full, 0, Newest, "3.21.3") }

// PermitVersions are the releases that tests of permits run against: the newest, and the first recorded one whose
// permit ids are like Go's; in full, all recorded ones.
func PermitVersions(full bool) []string { return either(full, 0, Newest, "3.21.3") }

// Beside runs a test once for each of these releases, in parallel.
func Beside(t *testing.T, versions []string, test func(t *testing.T, version string)) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// newestProject makes Maven resolve the latest Redisson release.
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

// Released returns the version of the latest Redisson release, which may be untested here. Maven asks its configured
// repositories. Released blocks until they answer or ctx ends.
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
	// Without -U Maven may use an answer that is a day old.
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
