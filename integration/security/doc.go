// Package security holds no code but tests: who is let in and who is believed (TLS, ACL), that names are data whatever
// bytes they are made of, and that secrets are shown nowhere.
//
// The ACL lines under test are read from docs/security.md, so that what operators copy is what was tested.
package security
