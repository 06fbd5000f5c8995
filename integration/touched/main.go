package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const (
	library = "github.com/rlock-go/redisson"
	runs    = 5
)

func main() {
	verbose := flag.Bool("v", false, "print the functions too")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "touched:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	temp, err := os.MkdirTemp("", "touched-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "pair")
	build := exec.Command("go", "build", "-cover", "-covermode=atomic", "-coverpkg="+library+"/...", "-o", binary,
		library+"/integration/touched/pair")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	url, end, err := startServer(temp)
	if err != nil {
		return err
	}
	defer end()
	c := count{}
	for i := range runs {
		dir := filepath.Join(temp, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		pair := exec.Command(binary, url, dir)
		pair.Env = append(os.Environ(), "GOCOVERDIR="+temp) // what the whole run covered, which nobody wants
		if out, err := pair.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		text, err := exec.Command("go", "tool", "covdata", "func", "-i="+dir).Output()
		if err != nil {
			return fmt.Errorf("covdata: %w", err)
		}
		if err := c.add(string(text)); err != nil {
			return err
		}
	}
	fmt.Print(c.table(verbose))
	return nil
}
