package javapeer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
)

// mavenTail is how many bytes of Maven's output an error shows; the cause is at the end.
const mavenTail = 3000

// A version becomes a folder's name and a command's argument.
var versionForm = regexp.MustCompile(`^[0-9]+(\.[0-9A-Za-z-]+)+$`)

// Build compiles the peer against a Redisson version. If that was done before and the sources are unchanged, it neither
// runs Maven nor needs a network. Concurrent calls, also of other processes, build once. It blocks until the peer is
// built or ctx ends. The error says what is missing, or shows the end of Maven's output.
func Build(ctx context.Context, version string) error {
	_, err := build(ctx, version)
	return err
}

func build(ctx context.Context, version string) (built, error) {
	if !versionForm.MatchString(version) {
		return built{}, fmt.Errorf("javapeer: %q is not a Redisson version", version)
	}
	root, err := codeedit.Root()
	if err != nil {
		return built{}, fmt.Errorf("javapeer: %w", err)
	}
	project := filepath.Join(root, "integration", "kit", "java")
	if _, err := tool("java"); err != nil {
		return built{}, err
	}
	b := newBuilt(project, version)
	sum, err := sourceSum(project)
	if err != nil {
		return built{}, fmt.Errorf("javapeer: reading the sources: %w", err)
	}
	if b.current(sum) {
		return b, nil
	}

	// One lock for all versions: Maven's local repository is not safe for two processes that fetch the same file.
	unlock, err := lockFile(ctx, filepath.Join(project, "target", "build.lock"))
	if err != nil {
		return built{}, fmt.Errorf("javapeer: waiting for another build: %w", err)
	}
	defer unlock()
	if b.current(sum) {
		return b, nil
	}
	// Classes and jars of older sources must not remain.
	if err := os.RemoveAll(b.dir); err != nil {
		return built{}, fmt.Errorf("javapeer: %w", err)
	}
	if err := runMaven(ctx, project, version); err != nil {
		return built{}, err
	}
	if err := b.archive(ctx); err != nil {
		return built{}, err
	}
	if err := b.markCurrent(sum); err != nil {
		return built{}, err
	}
	return b, nil
}

func runMaven(ctx context.Context, project, version string) error {
	mvn, err := tool("mvn")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-Dredisson.version="+version, "process-classes")
	cmd.Dir = project
	// Maven is done before a JVM's second compiler pays off.
	cmd.Env = append(os.Environ(), "MAVEN_OPTS="+os.Getenv("MAVEN_OPTS")+" "+strings.Join(jvmArgs[1:], " "))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("javapeer: building against Redisson %s: %w\n%s",
			version, errors.Join(err, ctx.Err()), tail(out.Bytes()))
	}
	return nil
}

func tail(out []byte) string {
	if len(out) > mavenTail {
		out = append([]byte("… "), out[len(out)-mavenTail:]...)
	}
	return strings.TrimSpace(string(out))
}

// built is the result of one version's build, in target/<version>.
type built struct {
	dir string
	jar string
}

func newBuilt(project, version string) built {
	dir := filepath.Join(project, "target", version)
	return built{dir: dir, jar: filepath.Join(dir, "lib", "redisson-"+version+".jar")}
}

func (b built) classPath() string {
	return b.peerJar() + string(os.PathListSeparator) + filepath.Join(b.dir, "lib", "*")
}

// stamp is written last, so that an interrupted build never counts as complete.
func (b built) stamp() string { return filepath.Join(b.dir, "built") }

func (b built) current(sum string) bool {
	have, err := os.ReadFile(b.stamp())
	if err != nil || string(have) != sum {
		return false
	}
	_, jar := os.Stat(b.jar)
	_, archive := os.Stat(b.archived())
	return jar == nil && archive == nil
}

func (b built) markCurrent(sum string) error {
	if _, err := os.Stat(b.jar); err != nil {
		return fmt.Errorf("javapeer: Maven succeeded without the jar that was asked for: %w", err)
	}
	if err := os.WriteFile(b.stamp(), []byte(sum), 0o644); err != nil {
		return fmt.Errorf("javapeer: %w", err)
	}
	return nil
}

// sourceSum changes whenever the pom or a source file changes.
func sourceSum(project string) (string, error) {
	h := sha256.New()
	add := func(path string) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(h, "%s\n", path)
		_, err = io.Copy(h, f)
		return err
	}
	if err := add(filepath.Join(project, "pom.xml")); err != nil {
		return "", err
	}
	err := filepath.WalkDir(filepath.Join(project, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(path)
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

func tool(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("javapeer: no %s in PATH: install a JDK of version 17 or newer and Maven 3.8 or newer"+
			" (Debian: openjdk-17-jdk-headless maven): %w", name, err)
	}
	return path, nil
}
