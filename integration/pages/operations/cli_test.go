package operations_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
)

var took = regexp.MustCompile(`^\(\d+\.\d+s\)$`)

// cli types a command into redis-cli and returns the lines of its output.
func (r *rig) cli(command string) []string {
	r.Helper()
	return r.cliAt(r.server.Addr(), command)
}

// cliAt is cli at another server.
func (r *rig) cliAt(addr, command string) []string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), "redis-cli", r.connectTo(addr, "--no-raw")...)
	cmd.Stdin = strings.NewReader(command + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("redis-cli %s: %v: %s", command, err, out)
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		return nil
	}
	var lines []string
	for line := range strings.Lines(text) {
		// redis-cli adds the duration of a slow command.
		if line = strings.TrimSpace(line); !took.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// tool runs a command of the tool rlock.
func (r *rig) tool(command string) []string {
	r.Helper()
	return r.toolAt(r.server.URL(), command)
}

// toolAt is tool at another server.
func (r *rig) toolAt(url, command string) []string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), program, strings.Fields(command)[1:]...)
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("%s: %v: %s", command, err, out)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func (r *rig) connectTo(addr string, more ...string) []string {
	r.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		r.Fatal(err)
	}
	return append([]string{"-h", host, "-p", port}, more...)
}

// monitor returns the lines of MONITOR while do runs and until each of these words has come. It leaves out PINGs, which
// come in silence, and the rig's own commands.
func (r *rig) monitor(do func(), until ...string) []string {
	r.Helper()
	cmd := exec.Command("redis-cli", r.connectTo(r.server.Addr(), "MONITOR")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	_, own, _ := strings.Cut(r.Text("CLIENT", "INFO"), " addr=")
	own, _, _ = strings.Cut(own, " ")
	own = "[0 " + own + "]"
	var mu sync.Mutex // guards lines
	var lines []string
	var reader sync.WaitGroup
	reader.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			mu.Lock()
			lines = append(lines, s.Text())
			mu.Unlock()
		}
	})
	defer func() {
		_ = cmd.Process.Kill()
		reader.Wait()
		_ = cmd.Wait() // it was killed
	}()
	seen := func() (all []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, l := range lines[min(1, len(lines)):] {
			if !strings.Contains(l, `"PING"`) && !strings.Contains(l, own) {
				all = append(all, l)
			}
		}
		return all
	}
	r.Becomes("MONITOR runs", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(lines) > 0 && lines[0] == "OK"
	})
	do()
	r.Becomes("MONITOR has shown "+strings.Join(until, " and "), func() bool {
		text := strings.Join(seen(), "\n")
		for _, word := range until {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return true
	})
	return seen()
}

// version returns the server's version, for the message of a failed comparison.
func (r *rig) version() string {
	r.Helper()
	_, v, _ := strings.Cut(r.Text("INFO", "server"), "redis_version:")
	v, _, _ = strings.Cut(v, "\r")
	return v
}
