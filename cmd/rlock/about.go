package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version returns the module's version and commit, and Go's version.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	revision := cmp.Or(set["vcs.revision"], "not known")
	if set["vcs.modified"] == "true" {
		revision += ", modified"
	}
	return fmt.Sprintf("%s, revision %s, %s", cmp.Or(info.Main.Version, "(devel)"), revision, info.GoVersion)
}

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIRECTORY", Short: "Write the manual pages into a directory", Args: cobra.ExactArgs(1),
		Long: `man writes a manual page for rlock and one for each of its commands, such as
rlock-run.1.`,
		RunE: func(c *cobra.Command, args []string) error {
			pages := append([]*cobra.Command{c.Root()}, c.Root().Commands()...)
			for _, p := range pages {
				if p.IsAvailableCommand() || p == c.Root() {
					name := strings.ReplaceAll(p.CommandPath(), " ", "-") + ".1"
					if err := os.WriteFile(filepath.Join(args[0], name), []byte(manual(p)), 0o644); err != nil {
						return &exit{1, err}
					}
				}
			}
			return nil
		},
	}
}

// manual returns the help of a command as a manual page.
func manual(c *cobra.Command) string {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %q\n", strings.ToUpper(name), "rlock")
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", title, roff(strings.Trim(text, "\n")))
		}
	}
	section("SYNOPSIS", c.UseLine())
	section("DESCRIPTION", c.Long)
	section("OPTIONS", c.NonInheritedFlags().FlagUsages())
	section("OPTIONS OF EVERY COMMAND", c.InheritedFlags().FlagUsages())
	var others string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			others += fmt.Sprintf("%-12s %s\n", sub.Name(), sub.Short)
		}
	}
	section("COMMANDS", others)
	return b.String()
}

// roff escapes a text for man.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
