package behaviour_test

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	r := on(t, redisserver.ACL(t, redisserver.User{Name: "worker", Password: "right", Rules: []string{"~*", "&*", "+@all"}}))
	_, err := rlock.Open(t.Context(), redisserver.URLAs(r.Server, redisserver.User{Name: "worker", Password: "guessed"}), rlock.WithCommandTimeout(10*time.Second))
	wants(t, err, nil, "open", "AUTH", "WRONGPASS")
	isServerError(t, err)
	if strings.Contains(err.Error(), "guessed") || errors.Is(err, rlock.ErrInvalidOption) {
		t.Error(err)
	}
	// A retry could not succeed, so the error comes at once.
	t.Run("found out after Open", func(t *testing.T) {
		c := r.Open(redisserver.URLAs(r.Server, redisserver.User{Name: "worker", Password: "right"}), rlock.WithCommandTimeout(10*time.Second))
		r.Do("ACL", "SETUSER", "worker", "resetpass", ">other")
		r.Do("CLIENT", "KILL", "USER", "worker")
		// This command may be written before the client sees the connection end; then it might have run.
		_, err := c.NewLock("x").TryLock(t.Context())
		wants(t, err, nil, "acquire", "AUTH", "WRONGPASS")
		isServerError(t, err)
		_, err = c.NewLock("y").TryLock(t.Context())
		wants(t, err, nil, "acquire", "AUTH", "WRONGPASS")
		isServerError(t, err)
		if errors.Is(err, rlock.ErrUncertain) {
			t.Error(err)
		}
		r.Do("ACL", "SETUSER", "worker", "resetpass", ">right")
		r.Unlock(r.Lock(c.NewLock("x")))
	})
	t.Run("that is missing", func(t *testing.T) {
		r, s := own(t, "--requirepass", "right")
		_, err := rlock.Open(t.Context(), "redis://"+s.Addr(), rlock.WithCommandTimeout(time.Second))
		wants(t, err, nil, "open", "NOAUTH")
		isServerError(t, err)
		r.Open((&url.URL{Scheme: "redis", Host: s.Addr(), User: url.UserPassword("", "right")}).String())
	})
}

func TestLoadingServer(t *testing.T) {
	t.Parallel()
	// Loading takes a millisecond a key, and the server answers clients after each kilobyte.
	r, s := own(t, "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
	for range 1000 {
		r.Do("RPUSH", r.name(), strings.Repeat("x", 200))
	}
	hasty, patient := r.open(rlock.WithCommandTimeout(50*time.Millisecond)), r.open(rlock.WithCommandTimeout(patience))
	s.Stop()
	entered := r.enter(patient.NewLock("x"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	refused := testbed.Begun(func() (err error) {
		for ctx.Err() == nil && (err == nil || !strings.Contains(err.Error(), "LOADING")) {
			_, err = hasty.NewLock("x").TryLock(ctx, rlock.Lease(time.Millisecond))
		}
		return err
	})
	s.Restart()
	err := testbed.Receive(r, "the word LOADING", refused)
	wants(t, err, nil, "LOADING")
	isServerError(t, err)
	e := r.Entered(entered)
	r.Unlock(e.Hold)
}

func TestForbiddenChannel(t *testing.T) {
	user := redisserver.User{Name: "mute", Password: "p", Rules: []string{"~*", "resetchannels", "+@all"}}
	r := on(t, redisserver.ACL(t, user))
	c := r.Open(redisserver.URLAs(r.Server, user))
	h := r.Lock(r.open().NewLock("x"))
	_, err := c.NewLock("x").Lock(t.Context())
	wants(t, err, nil, "acquire", `"x"`, "subscribe to", testbed.Channel("x"), "NOPERM")
	isServerError(t, err)
	r.Unlock(h)
	t.Run("an unlock says so too", func(t *testing.T) {
		h := r.Lock(c.NewLock("x"))
		err := h.Unlock(t.Context())
		// Inside a script Redis 7.0 words this error without NOPERM.
		wants(t, err, nil, "release", `"x"`, "released, but", "channel")
		isServerError(t, err)
		if r.Number("EXISTS", "x") != 0 {
			t.Error("still locked")
		}
	})
}

// A command that the server refuses before it runs needs no undo. An error from inside a script may come after a part
// of it ran. The texts differ between servers: RLOCK_REDIS_SERVER names another one to run this test on.
func TestACommandThatWasTurnedAwayIsNotUndone(t *testing.T) {
	scripts := map[string]string{luasrc.LockScript.SHA1: "lock", luasrc.UnlockScript.SHA1: "unlock", luasrc.UnlockToScript.SHA1: "unlock"}
	for behaviour, row := range map[string]struct {
		server []string // of the account, added to those that all accounts have
		rules  []any    // of the account, besides what all have
		says   string   // in the caller's error, in lower case
		sent   []string // scripts
		logged string   // in the log line of the undo
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
			// Close waits for undos, so no command follows it.
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
