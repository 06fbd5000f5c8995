// Package campaign is a whole run: a stage, a schedule played on it, a history judged while it grows, and in the end
// what is left, a summary and a timeline.
package campaign
