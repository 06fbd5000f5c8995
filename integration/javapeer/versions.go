package javapeer

// Newest is the Redisson release whose bytes the library reproduces.
const Newest = "4.7.0"

// Versions are the releases that every interoperation test runs against: the
// newest, and one of each older form of the scripts.
var Versions = []string{Newest, "3.52.0", "3.21.3", "3.11.6"}

// Recorded are all the releases whose traffic was looked at.
var Recorded = []string{Newest, "4.3.0", "3.52.0", "3.37.0", "3.27.2", "3.21.3", "3.16.8", "3.11.6"}
