// Package monitoring tests what docs/monitoring has: a real Prometheus scrapes a program
// that loses locks and one that does not, with the alert rules, and answers each query
// of the dashboard.
//
//	go test ./pages/monitoring          needs Debian's package prometheus
//	go test ./pages/monitoring -write   draws docs/monitoring/dashboard.svg from that run
package monitoring
