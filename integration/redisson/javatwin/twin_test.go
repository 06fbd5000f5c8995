package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
)

// patience bounds waits for what should take milliseconds, or a JVM's start, on a loaded machine.
const patience = 60 * time.Second

// twinEnv makes the test binary the Go twin instead of running tests.
const twinEnv = "RLOCK_JAVATWIN"

func TestMain(m *testing.M) {
	if os.Getenv(twinEnv) != "" {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(classes)
		os.Exit(code)
	}))
}

// night has the arguments of both twins.
type night struct {
	url               string
	watchdog          time.Duration
	printing, mailing time.Duration
	invoices, credits int
}

func (n night) args() []string {
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	return []string{
		n.url, ms(n.watchdog), ms(n.printing), ms(n.mailing), strconv.Itoa(n.invoices), strconv.Itoa(n.credits),
	}
}

// twin is one of the programs, ready to begin.
type twin struct {
	*testing.T
	name  string
	cmd   *exec.Cmd
	in    io.WriteCloser
	said  bytes.Buffer // on standard error; read when it has ended
	ended bool
}

func goTwin(t *testing.T, n night) *twin {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, n.args()...)
	cmd.Env = append(os.Environ(), twinEnv+"=1")
	return start(t, "go", cmd)
}

func javaTwin(t *testing.T, n night) *twin {
	t.Helper()
	path := compiled(t) + string(os.PathListSeparator) + filepath.Join(libraries(t), "*")
	args := []string{"-Xmx128m", "-XX:+UseSerialGC", "-cp", path, "InvoiceNight"}
	return start(t, "java", exec.Command("java", append(args, n.args()...)...))
}

// start returns when the program is ready. It ends with the test, and with the test process, from which it reads.
func start(t *testing.T, name string, cmd *exec.Cmd) *twin {
	t.Helper()
	w := &twin{T: t, name: name, cmd: cmd}
	cmd.Stderr = &w.said
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	w.in = in
	t.Cleanup(func() {
		if !w.ended {
			cmd.Process.Kill()
			w.wait()
		}
	})
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	late.Stop()
	if line != "ready\n" {
		cmd.Process.Kill()
		t.Fatalf("the twin in %s said %q, %v; %v\n%s", name, line, err, w.wait(), &w.said)
	}
	return w
}

func (w *twin) begin() {
	w.Helper()
	if _, err := io.WriteString(w.in, "\n"); err != nil {
		w.Fatal(err)
	}
}

// finish returns when the program has done its night.
func (w *twin) finish() {
	w.Helper()
	late := time.AfterFunc(patience, func() { w.cmd.Process.Kill() })
	err := w.wait()
	if !late.Stop() {
		w.Fatalf("the twin in %s did not end its night within %v\n%s", w.name, patience, &w.said)
	}
	if err != nil {
		w.Fatalf("the twin in %s: %v\n%s", w.name, err, &w.said)
	}
}

func (w *twin) wait() error {
	w.ended = true
	return w.cmd.Wait()
}

// libraries is where the build of the peer leaves Redisson and what it needs.
func libraries(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := javapeer.Build(ctx, javapeer.Newest); err != nil {
		t.Fatal(err)
	}
	return filepath.Join("..", "..", "kit", "java", "target", javapeer.Newest, "lib")
}

// jars is the class path that the JDK's tools take.
func jars(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(libraries(t), "*.jar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no libraries: %v", err)
	}
	return strings.Join(files, string(os.PathListSeparator))
}

var (
	compileOnce sync.Once
	classes     string
	compileErr  error
)

// compiled is the folder of the Java twin's classes. A warning of the compiler is an error.
func compiled(t *testing.T) string {
	t.Helper()
	path := jars(t)
	compileOnce.Do(func() {
		var sources []string
		if sources, compileErr = filepath.Glob(filepath.Join("java", "*.java")); compileErr != nil {
			return
		}
		if classes, compileErr = os.MkdirTemp("", "javatwin"); compileErr != nil {
			return
		}
		_, compileErr = jdk("jdk.compiler/com.sun.tools.javac.Main", append([]string{
			"-Xlint:all,-processing,-classfile", "-Werror", "--release", "17", "-d", classes, "-cp", path}, sources...)...)
	})
	if compileErr != nil {
		t.Fatal(compileErr)
	}
	return classes
}

// jdk runs one of the JDK's tools. They are modules of it, so the java in PATH is enough to find them.
func jdk(module string, args ...string) (string, error) {
	cmd := exec.Command("java", append([]string{"-m", module}, args...)...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", module, err, &out, &said)
	}
	return out.String(), nil
}
