// Package kit holds what the other folders of integration are built with: real servers (redisserver) and a Docker
// engine for them, faults between a client and its server (faultproxy, gate), and real Redisson in a JVM, built from
// kit/java and driven over a pipe (javapeer). It proves nothing by itself.
package kit
