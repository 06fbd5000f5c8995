// Package javapermits shows Redisson's expirable permits, its semaphores and its count-down latches beside Redisson: what both
// leave on the server, step by step, and both at work on one of them.
package javapermits
