// Package secrets takes the secrets out of an experiment file before it is stored, and puts them
// back before it is run again. Package redact knows secrets by their names; here they are found in
// the text of a file, whose layout and comments stay as they are.
//
//	secrets.go     takes secrets out of a file, lists those that are missing, fills them in again
//	comments.go    takes them out of comments
//	variables.go   secrets from the environment: of {{env}} only the default is in the file
package secrets
