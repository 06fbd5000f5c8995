package eventlog

import "log/slog"

// costs are what refusals cost of the commands that a client can do without. The refusals of
// the others have lines of their own, or make a call fail.
var costs = map[string]string{
	"CLIENT ID":          "there is no kill barrier",
	"CLIENT SETNAME":     "connections have no name",
	"PUBSUB NUMSUB":      "slower clients get no fair share",
	"PUBSUB SHARDNUMSUB": "slower clients get no fair share",
	"ROLE":               "a server that became a replica is noticed when it refuses a write",
	"SENTINEL MASTER":    "a failover that has begun, and how late one begins, are not known",
	"SENTINEL MYID":      "a Sentinel that has two addresses counts twice",
	"SENTINEL REPLICAS":  "replicas that are away when the client connects do not count",
	"SENTINEL SENTINELS": "Sentinels that the URL lacks are not found",
	"SCRIPT LOAD":        "each command carries its whole script",
	"WAIT":               "no replica acknowledges a write",
}

// CommandRefused returns what logs that the account may not send a command, or that the server
// has none of its name, and what that costs. It is nil if that was logged before: it is logged
// once for each command.
func (e *Log) CommandRefused(server, command string, err error) (tell func()) {
	if !e.Warns() {
		return nil
	}
	if _, said := e.refused.LoadOrStore(command, nil); said {
		return nil
	}
	return func() {
		e.warn("command refused", slog.String("server", server), slog.String("command", command), slog.String("cost", costs[command]), failed(err))
	}
}
