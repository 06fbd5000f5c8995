package main

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// doctor names each command that the account may not send, with what that costs, and no other.
func TestDoctorNamesEachRefusedCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	url := strings.Replace(s.URL(), "redis://", "redis://oncall:secret@", 1)
	for _, c := range costs {
		rule := "-" + strings.ReplaceAll(strings.ToLower(c.name), " ", "|")
		if _, err := conn.Do("ACL", "SETUSER", "oncall", "reset", "on", ">secret", "~*", "&*", "+@all", rule); err != nil {
			t.Fatal(err)
		}
		tool := begin(t, url, "doctor")
		tool.status()
		var refused []string
		for line := range strings.Lines(tool.out.String()) {
			if strings.HasPrefix(line, "warn  command ") {
				refused = append(refused, line)
			}
		}
		if len(refused) != 1 || !strings.Contains(refused[0], c.name+" is refused: "+c.costs) {
			t.Errorf("without %s: %q", c.name, refused)
		}
	}
	if _, err := conn.Do("ACL", "SETUSER", "oncall", "+@all"); err != nil {
		t.Fatal(err)
	}
	if out := ended(t, 0, url, "doctor"); strings.Contains(out, " is refused") || !strings.Contains(out, "ok    commands") {
		t.Errorf("with all commands: %s", out)
	}
}
