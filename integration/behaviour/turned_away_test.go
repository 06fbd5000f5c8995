package behaviour_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

// A command that the server turns away before any of it runs has nothing to undo. What a script meets inside may come
// after a part of it ran. The texts differ from server to server: RLOCK_REDIS_SERVER names another one to run this on.
func TestACommandThatWasTurnedAwayIsNotUndone(t *testing.T) {
	scripts := map[string]string{luasrc.LockScript.SHA1: "lock", luasrc.UnlockScript.SHA1: "unlock", luasrc.UnlockOnceScript.SHA1: "unlock"}
	for behaviour, row := range map[string]struct {
		server []string // further arguments of the server
		rules  []any    // of the account, besides what all have
		says   string   // in the caller's error, in any case
		sent   []string // scripts
		logged string   // of the undo
	}{
		"by an account without evalsha":    {rules: []any{"~*", "-evalsha"}, says: "noperm", sent: []string{"lock"}},
		"by an account without scripting":  {rules: []any{"~*", "-@scripting"}, says: "noperm", sent: []string{"lock"}},
		"by an account without the key":    {rules: []any{"~other:*"}, says: "noperm", sent: []string{"lock"}},
		"by a server that has no evalsha":  {server: []string{"--rename-command", "EVALSHA", ""}, rules: []any{"~*"}, says: "unknown command", sent: []string{"lock"}},
		"inside, before anything changed":  {rules: []any{"~*", "-hincrby"}, says: "script", sent: []string{"lock", "unlock"}, logged: "ran=false"},
		"inside, after the owner is there": {rules: []any{"~*", "-pexpire"}, says: "script", sent: []string{"lock", "unlock"}, logged: "ran=true"},
	} {
		t.Run(behaviour, func(t *testing.T) {
			user := redisserver.User{Name: "worker", Password: "secret"}
			r := on(t, redisserver.Local(t, row.server...))
			r.LoadScripts()
			r.Do("ACL", append([]any{"SETUSER", user.Name, "reset", "on", ">" + user.Password, "allchannels", "+@all"}, row.rules...)...)
			p := faultproxy.Start(t, r.Server.Addr())
			var seen testbed.Log
			c := r.Open("redis://"+user.Name+":"+user.Password+"@"+p.Addr(),
				rlock.WithLogger(slog.New(slog.NewTextHandler(&seen, &slog.HandlerOptions{Level: slog.LevelDebug}))))
			l := c.NewLock(r.name())
			_, err := l.TryLock(t.Context())
			if err == nil || !strings.Contains(strings.ToLower(err.Error()), row.says) {
				t.Errorf("TryLock: %v", err)
			}
			isServerError(t, err)
			// Close waits for undos, so nothing follows it.
			c.Close()
			var sent []string
			for _, e := range p.Record() {
				if faultproxy.Command("EVALSHA")(e.Cmd) {
					sent = append(sent, scripts[e.Cmd[1]])
				}
			}
			if !slices.Equal(sent, row.sent) {
				t.Errorf("sent %q, want %q", sent, row.sent)
			}
			if n := r.Number("EXISTS", l.Name()); n != 0 {
				t.Error("a key is left")
			}
			for line := range strings.Lines(seen.String()) {
				if strings.Contains(line, "level=WARN") {
					t.Errorf("logged: %s", line)
				}
				if strings.Contains(line, "undo") && (row.logged == "" || !strings.Contains(line, row.logged)) {
					t.Errorf("logged: %s", line)
				}
			}
			if row.logged != "" && !strings.Contains(seen.String(), "acquire undone") {
				t.Error("no line tells of the undo")
			}
		})
	}
}
