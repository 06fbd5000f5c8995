// Package servers is the folder of the tests with more than one server. Package sentinels has failovers; cluster has slots
// that move, and servers that are reached by TLS, by name or by IPv6, or that do not name their hosts. severalservers runs
// the behaviour tests on a cluster whose slots move, and behind Sentinels.
package servers
