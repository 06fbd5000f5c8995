// Package javapermits shows Redisson's expirable permits beside Redisson: what both leave on the server, step by step, and
// both at work on one semaphore.
package javapermits
