// Package pages is the folder of the tests that compare the pages with the code: doccheck checks links, commands, names
// and lengths, operations runs each command of the pages, logs compares the log lines, monitoring checks the dashboards
// and alerts, and seeds runs each published script that the project grew from.
package pages
