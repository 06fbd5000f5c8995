// Command touched counts the library's functions and files that one uncontended pair runs: a Lock and its Unlock, by a
// connected client that has run many. This is the code that a reader of such a call must follow, so its structure
// should keep it small. The command lists the functions, and counts them and their files by package.
//
// It builds package pair, below, with coverage of all of the library's packages, and runs it against its own
// redis-server. The client's goroutines count too, until the client is idle again. Runs differ by what the scheduler
// does, so there are several, and a function counts if most of them ran it.
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/program"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

const (
	library = "github.com/rlock-go/redisson"
	runs    = 5
)

func main() {
	status := 0
	func() {
		t := &program.Program{Title: "touched"}
		defer t.End(&status)
		print(ran(t))
	}()
	os.Exit(status)
}

// ran returns the functions that most runs had, each as "folder/file.go name", sorted. Each run is a process.
func ran(t *program.Program) []string {
	temp := t.TempDir()
	binary := filepath.Join(temp, "pair")
	output(t, exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+library+"/...", "-o", binary, library+"/integration/bench/touched/pair"))
	url := redistest.Start(t).URL()
	in := map[string]int{}
	for i := range runs {
		dir := filepath.Join(temp, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		pair := exec.Command(binary, url, dir)
		pair.Env = append(os.Environ(), "GOCOVERDIR="+temp) // coverage of the whole run, which is not used
		output(t, pair)
		// Each line is of one function: its place with a colon, its name, and how much of it ran.
		for line := range strings.Lines(output(t, exec.Command("go", "tool", "covdata", "func", "-i="+dir))) {
			f := strings.Fields(line)
			place, inside := strings.CutPrefix(f[0], library+"/")
			if inside && f[2] != "0.0%" && !strings.HasPrefix(place, "integration/") {
				file, _, _ := strings.Cut(place, ":")
				in[file+" "+f[1]]++
			}
		}
	}
	maps.DeleteFunc(in, func(_ string, n int) bool { return 2*n <= runs })
	if len(in) == 0 {
		t.Fatalf("no function of the library ran: was %s built with coverage?", library)
	}
	return slices.Sorted(maps.Keys(in))
}

func output(t *program.Program, cmd *exec.Cmd) string {
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func print(functions []string) {
	type counted struct {
		functions int
		files     map[string]bool
	}
	all := counted{files: map[string]bool{}}
	of := map[string]*counted{} // by package
	for _, f := range functions {
		fmt.Println(f)
		file, _, _ := strings.Cut(f, " ")
		dir := path.Dir(file)
		if of[dir] == nil {
			of[dir] = &counted{files: map[string]bool{}}
		}
		for _, c := range []*counted{of[dir], &all} {
			c.functions++
			c.files[file] = true
		}
	}
	fmt.Printf("\n%-28s %9s %5s\n", "package", "functions", "files")
	for _, name := range slices.Sorted(maps.Keys(of)) {
		fmt.Printf("%-28s %9d %5d\n", name, of[name].functions, len(of[name].files))
	}
	fmt.Printf("%-28s %9d %5d\n", "all", all.functions, len(all.files))
}
