package cli

import (
	"fmt"
	"slices"
	"strings"

	"dyno/internal/engine/requests"
	"dyno/internal/lab/versus"
	"dyno/internal/redact"
	"dyno/internal/setting"
)

// unquotedFault says how servers' commands are written that lack their quotes, so that their flags
// were taken for those of dyno vs; nil if none does. It shows no secret that keep replaces.
func unquotedFault(args []string, groups []group, keep redact.Replacer) error {
	commands := unquotedCommands(args, groups)
	if len(commands) == 0 {
		return nil
	}
	text := ""
	for _, words := range commands {
		var parts []string
		for _, w := range keep.Words(words) {
			parts = append(parts, quotePart(w))
		}
		text += " " + setting.ShellQuote(strings.Join(parts, " "))
	}
	return fmt.Errorf("each server's command needs quotes:%s", text)
}

// unquotedCommands returns the words of each command whose {port} is in a word of its own. Such a
// command begins with a word that is no flag. It ends before the next such word behind its {port},
// or before a flag of dyno vs there.
func unquotedCommands(args []string, groups []group) (commands [][]string) {
	for i := 0; i < len(args); {
		n := commandLength(args[i:], groups)
		if n > 1 {
			commands = append(commands, args[i:i+n])
		} else {
			n = min(flagLength(args[i:], groups), len(args)-i)
		}
		i += n
	}
	return commands
}

// quotePart is a word of a command, which needs no quotes for the braces of {port}.
func quotePart(word string) string {
	const port = "0"
	if plain := strings.ReplaceAll(word, "{port}", port); setting.ShellQuote(plain) == plain {
		return word
	}
	return setting.ShellQuote(word)
}

// commandLength is how many of args are an unquoted command, which they begin with; 0 if they begin
// with none.
func commandLength(args []string, groups []group) int {
	if strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], " \t\n") ||
		versus.IsURL(requests.FullURL(args[0])) ||
		strings.HasSuffix(strings.ToLower(args[0]), hurlEnding) {
		return 0
	}
	at := portWord(args, groups)
	if at < 1 {
		return 0
	}
	n := at + 1
	for n < len(args) && strings.HasPrefix(args[n], "-") {
		if _, known := readFlag(args[n], groups); known {
			break
		}
		n++
	}
	return n
}

// portWord is the place of the first word with {port}; -1 if there is none, or if a flag of dyno vs
// takes it.
func portWord(args []string, groups []group) int {
	at := slices.IndexFunc(args, func(w string) bool {
		return strings.Contains(w, "{port}") && !strings.ContainsAny(w, " \t\n") &&
			!strings.Contains(w, "://")
	})
	if at < 1 {
		return at
	}
	if _, known := readFlag(args[at], groups); known || flagLength(args[at-1:], groups) == 2 {
		return -1
	}
	return at
}

// flagLength is how many of args the flag takes that they begin with: 2 if its value is the next.
func flagLength(args []string, groups []group) int {
	if !strings.HasPrefix(args[0], "-") {
		return 1
	}
	found, known := readFlag(args[0], groups)
	if known && len(found) > 0 && found[len(found)-1].missing { // a lone - is no flag
		return 2
	}
	return 1
}
