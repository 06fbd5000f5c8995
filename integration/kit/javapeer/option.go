package javapeer

import (
	"strconv"
	"time"
)

// Option configures a peer's JVM or Redisson client.
type Option func(*config)

type config struct {
	jvm      []string
	settings []string
}

// Setting sets one of Redisson's own settings by its name in Config or SingleServerConfig ("retryInterval",
// "checkLockSyncedSlaves", …) to a number, a boolean or a text. The peer does not start if its version has no such
// setting.
func Setting(name, value string) Option {
	return func(c *config) { c.settings = append(c.settings, name+"="+value) }
}

// WatchdogTimeout is Redisson's lockWatchdogTimeout, in whole milliseconds. Default is 30 s.
func WatchdogTimeout(d time.Duration) Option {
	return Setting("lockWatchdogTimeout", milliseconds(d))
}

// CommandTimeout is Redisson's timeout for one reply of the server, in whole milliseconds. Default is 3 s.
func CommandTimeout(d time.Duration) Option { return Setting("timeout", milliseconds(d)) }

// ConnectionPoolSize bounds Redisson's command connections. Default is 8.
func ConnectionPoolSize(n int) Option { return Setting("connectionPoolSize", strconv.Itoa(n)) }

// SubscriptionPoolSize bounds Redisson's subscription connections, each of which carries five channels. Default is 2,
// so at most ten locks can have waiters at a time.
func SubscriptionPoolSize(n int) Option {
	return Setting("subscriptionConnectionPoolSize", strconv.Itoa(n))
}

// NamePrefix installs a NameMapper that puts prefix before every name, the counter of [Work] included. The peer does
// not start if its version has no NameMapper (3.11 has none).
func NamePrefix(prefix string) Option { return Setting("namePrefix", prefix) }

// JVMArgs are passed to java before the class path.
func JVMArgs(args ...string) Option { return func(c *config) { c.jvm = append(c.jvm, args...) } }

// WholeJIT lets the JVM use both compilers, as Java does by default; for measurements. Default is the first compiler
// alone, which takes less of the machine.
func WholeJIT() Option { return JVMArgs("-XX:TieredStopAtLevel=4") }

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
