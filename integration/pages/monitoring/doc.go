// Package monitoring tests the files of docs/monitoring. A real Prometheus with the alert rules scrapes a program that
// loses locks and one that does not, and answers each query of the dashboard.
//
//	go test ./pages/monitoring          needs Debian's package prometheus
//	go test ./pages/monitoring -write   draws docs/monitoring/dashboard.svg from that run
package monitoring
