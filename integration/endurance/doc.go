// Command endurance plays random rounds of shared owners under faults, and probes each promise of rlock from outside.
package main
