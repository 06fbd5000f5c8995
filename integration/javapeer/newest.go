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
)

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

// Released is the version of the last release of Redisson, which may be one that
// nobody here has tried. Maven asks the repositories that it is configured for.
// It blocks until that is answered or ctx ends.
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
