package grade

import "strings"

// InFileWords is the text of a failure in words of an experiment's file: it advises no flags, which
// the load of an experiment does not have. Where the file has no such setting either, nothing is
// advised.
func InFileWords(text string) string { return fileWords.Replace(text) }

// fileWords are the advice of failures for a command line, each with what takes its place.
var fileWords = strings.NewReplacer(
	"or lower --connections", "or give the level fewer connections",
	" or use --connect-rate", "",
	"or --http 1.1", "or give the level http: 1.1",
	"or give --http 1.1", "or give the level http: 1.1",
	"use --http 1.1", "give the level http: 1.1",
	"use --http 2 or 1.1", "give the level http: 2 or 1.1",
	"use --cacert or --insecure", "have the machine trust it",
	"; use --sni or --insecure", "",
	"; use --insecure to do without", "",
	"; use --insecure, or check the clock", "; check the clock",
	"; use --insecure", "",
	"; use --cert and --key", "; the load of an experiment has none",
	"it refuses the certificate of --cert, or wants one",
	"it may want one, and the load of an experiment has none",
	"; it does not trust who signed the certificate of --cert", "",
	"a certificate (--cert)", "a certificate",
	"; see --tls-min and --tls-max", "",
	"; see --sni", "",
	"; or use --ring epoll", "",
)
