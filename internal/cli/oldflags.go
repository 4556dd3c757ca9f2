package cli

import (
	"slices"
	"strings"

	"dyno/internal/engine/loadplan"
)

// oldFlags takes flags of wrk, ab, hey, oha and curl out of a command line of dyno run. Each is one
// fault, which has dyno's spelling. Their values go with them, so that nothing else is wrong for
// their sake.
func oldFlags(args []string, groups []group) (rest []string, faults []error) {
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return append(rest, args...), faults
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest, args = append(rest, arg), args[1:]
			continue
		}
		if words, fault := oldFlag(args, groups); words > 0 {
			faults, args = append(faults, fault), args[words:]
			continue
		}
		n := 1
		if found, ours := readFlag(arg, groups); ours && found[len(found)-1].missing {
			n = min(2, len(args)) // its value, whatever that looks like
		}
		rest, args = append(rest, args[:n]...), args[n:]
	}
	return rest, faults
}

// oldFlag is how many words a flag of another tool has with which args begin, and its fault;
// 0 if it is none.
func oldFlag(args []string, groups []group) (words int, fault error) {
	name, value, has := strings.Cut(args[0], "=")
	if !has && len(args) > 1 {
		value = args[1]
	}
	if _, ours := readFlag(args[0], groups); ours && (name != "-q" || !isBareNumber(value)) {
		return 0, nil
	}
	problem, takes, is := newSpelling(name, value)
	if !is {
		return 0, nil
	}
	words = 1
	if takes && !has {
		words = min(2, len(args))
	}
	if takes && value != "" {
		name += " " + value
	}
	return words, loadplan.Flaw{Setting: name, Problem: problem}
}

// isBareNumber reports whether a word is a number without a unit.
func isBareNumber(word string) bool {
	return word != "" && strings.Trim(word, "0123456789.") == ""
}

// spellings are flags of others: how many words they are, and what dyno has instead. VALUE stands
// for the value.
var spellings = []struct {
	names []string
	takes bool
	here  string
}{
	{[]string{"-z"}, true, "-d VALUE"},
	{[]string{"-q", "--qps", "--query-per-second"}, true, "-R VALUE"},
	{[]string{"-m"}, true, "-X VALUE"},
	{[]string{"-A"}, true, "-H 'Accept: VALUE'"},
	{[]string{"-a"}, true, "-u VALUE"},
	{[]string{"-D", "-p"}, true, "-b @VALUE"},
	{[]string{"-C"}, true, "-H 'Cookie: VALUE'"},
	{[]string{"-i"}, false, "-X HEAD"},
	{[]string{"-k"}, false, "--insecure"},
	{[]string{"--http2", "-h2"}, false, "--http 2"},
	{[]string{"--http1.0", "-0"}, false, "--http 1.0"},
	{[]string{"--http1.1"}, false, "--http 1.1"},
	{[]string{"--http3"}, false, "--http 3"},
	{[]string{"--disable-keepalive", "-disable-keepalive"}, false, "--reconnect always"},
}

// newSpelling is what dyno has for the flag of another tool, and whether that flag has a value.
func newSpelling(name, value string) (problem string, takes, is bool) {
	switch name {
	case "--latency", "-L", "--u_latency":
		return "is not needed; the report always has the percentiles", false, true
	case "--no-tui", "--no-color":
		return "is not needed", false, true
	case "--latency-correction":
		return "is not needed; with -R, latency is from when a request was due", false, true
	case "--location":
		return "is written --follow 50 here; in a Hurl file it is the option location: true", false, true
	case "-T":
		if strings.Contains(value, "/") {
			return "is written -H 'Content-Type: " + value + "' here", true, true
		}
		return "is written --timeout " + value + " here", true, true
	case "-s":
		return "is written --script " + value + " here", true, true
	}
	for _, s := range spellings {
		if slices.Contains(s.names, name) {
			return "is written " + strings.ReplaceAll(s.here, "VALUE", value) + " here", s.takes, true
		}
	}
	return "", false, false
}
