package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/rlock"
)

// The statuses that are not a child's. All except lost are from sysexits.h.
const (
	usage       = 64
	unreachable = 69
	partial     = 74
	notAcquired = 75
	lost        = 76
)

// exit is an error that sets the program's status. With a nil err nothing is printed.
type exit struct {
	status int
	err    error
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

func wrong(format string, args ...any) error { return &exit{usage, fmt.Errorf(format, args...)} }

func main() {
	// The system signals the child when the thread that started it ends, so the child must
	// be started by a thread that lasts.
	runtime.LockOSThread()
	os.Exit(status(root().ExecuteC()))
}

// status prints the error for people, and returns its number for the shell.
func status(c *cobra.Command, err error) int {
	if err == nil {
		return 0
	}
	if err.Error() != "" {
		fmt.Fprintln(os.Stderr, "rlock:", told(err))
	}
	number := usage // of cobra's own errors
	if e, ok := errors.AsType[*exit](err); ok {
		number = e.status
	}
	if number == usage {
		fmt.Fprintf(os.Stderr, "See %s --help.\n", c.CommandPath())
	}
	return number
}

// hangs matches the error of a connection whose first command the server does not answer.
var hangs = regexp.MustCompile(`(CLIENT SETNAME|AUTH|HELLO): (read \w+ \S+: )?i/o timeout`)

// told returns an error's text for people: without the library's "rlock:", which status
// prints, and with flags and commands instead of options and methods.
func told(err error) string {
	text := hangs.ReplaceAllString(strings.TrimPrefix(err.Error(), "rlock: "), "it took the connection, and does not answer (i/o timeout)")
	opening := "can't reach the server: "
	switch {
	case errors.Is(err, redisconn.ErrTopology):
		opening = ""
	case redisconn.IsRefusal(err):
		opening = "the server refused: "
	}
	return strings.NewReplacer("\nrlock: ", "\n", "WithCredentials", "--password-file", "WithSentinelCredentials", "--sentinel-password-file",
		"put it into RootCAs of WithTLSConfig", "give it with --tls-ca", "put it into RootCAs of WithSentinelTLSConfig", "give it with --tls-ca",
		"put it into Certificates of WithTLSConfig", "give it with --tls-cert and --tls-key",
		"put it into Certificates of WithSentinelTLSConfig", "give it with --tls-cert and --tls-key",
		"put a name that its certificate has into ServerName of WithTLSConfig", "use a name that its certificate has",
		"put a name that its certificate has into ServerName of WithSentinelTLSConfig", "use a name that its certificate has",
		"WithTLSConfig", "--tls", "WithSentinelTLSConfig", "--sentinel-tls",
		"open: invalid option: not sent: ", opening, "open: not sent: ", opening, "set with TrySetPermits", "set with rlock permits NAME set N",
		"The user executing the script can't run this command or subcommand", "the account may not run a command of the script, which rlock doctor names").Replace(text)
}

// judged gives a command's error its status.
func judged(err error) error {
	if _, ok := errors.AsType[*exit](err); ok || err == nil {
		return err
	}
	for _, taken := range []error{rlock.ErrLocked, rlock.ErrNoPermits} {
		if errors.Is(err, taken) {
			return &exit{notAcquired, err}
		}
	}
	if errors.Is(err, redisconn.ErrTopology) { // the URL is well written, and another server is there
		return &exit{unreachable, err}
	}
	for _, bad := range []error{rlock.ErrInvalidOption, rlock.ErrInvalidName} {
		if errors.Is(err, bad) {
			return &exit{usage, err}
		}
	}
	if errors.Is(err, rlock.ErrLeaseLost) {
		return &exit{lost, err}
	}
	return &exit{unreachable, err}
}

const about = `rlock works with the locks that Redisson (Java) and rlock (Go) keep in Redis.

The server is --url or REDIS_URL:
  redis://[user:password@]host[:port][/db]              rediss:// for TLS
  redis+sentinel://[user:password@]host[:port],…/master[/db]
  redis+cluster://[user:password@]host[:port],…
  redis+replicated://[user:password@]host[:port],…[/db]    a master, its replicas
Servers may announce addresses that can't be reached from here, as in a
container's network: --via 10.0.0.7:6379=localhost:7001, or for all ports of a
host --via 10.0.0.7=redis.

Keep the password out of the command line, where others see it: put it into
REDIS_URL or into a file (--password-file). It is never printed.

Exit status: 0 done · 1 doctor found something to do, or unlock was not
confirmed, or held found it free · 64 wrong usage · 69 the server can't be
reached, or refused · 74 something can't be read: what is shown is not all · 128
and the signal's number when one ended it. "rlock run" has more.`

func root() *cobra.Command {
	s := &server{}
	c := &cobra.Command{
		Use: "rlock", Short: "Run programs under Redisson's locks, and look after those locks", Long: about,
		SilenceErrors: true, SilenceUsage: true, Version: version(),
	}
	c.SetVersionTemplate("rlock {{.Version}}\n")
	s.flags(c.PersistentFlags())
	before, rest, _ := strings.Cut(c.UsageTemplate(), "Global Flags:\n")
	_, after, _ := strings.Cut(rest, "{{end}}")
	c.SetUsageTemplate(before + `"rlock help" has the flags of every command, such as --url and --tls.{{end}}` + after)
	_ = c.RegisterFlagCompletionFunc("via", cobra.NoFileCompletions)
	c.AddCommand(runCommand(s), listCommand(s), showCommand(s), heldCommand(s), watchCommand(s), unlockCommand(s), permitsCommand(s), doctorCommand(s), manCommand())
	return c
}

// serving makes a cobra command's function from one that asks servers.
func serving(s *server, do func(ctx context.Context, r *reader, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		r, err := s.reader()
		if err != nil {
			return judged(err)
		}
		defer r.close()
		ctx, stop := interruptible()
		defer stop()
		err = judged(do(ctx, r, args))
		if by, ok := errors.AsType[*exit](context.Cause(ctx)); ok && err != nil {
			return by
		}
		return err
	}
}

// oneName makes a command take one lock's name, and completes it with existing names.
func oneName(s *server, c *cobra.Command) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.complete(begun), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}
