package redact

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"dyno/internal/lazyregexp"
)

var (
	// option is a flag whose value is the next word.
	option = lazyregexp.New(`^--?([A-Za-z][\w.-]+)$`)
	// assignment is a variable or a flag with its value.
	assignment = lazyregexp.New(`^(-{0,2}[A-Za-z_][\w.-]*)=`)
	// headerLine is a header as a word of its own.
	headerLine = lazyregexp.New(`^([A-Za-z][\w-]*):\s*`)
	// headerIn is a header within a text.
	headerIn = lazyregexp.New(`\b([A-Za-z][\w-]*):[ \t]+([^'"\r\n]+)`)
	// piece is a word of a text that is a command; a quotation, or a hole (see masked), is in one.
	piece = lazyregexp.New(`(?:'[^']*'|"[^"]*"|\S)+`)
	// user is a name and a password.
	user = lazyregexp.New(`^([^:/]+):([^/].*)$`)
)

// Flags, of whatever program, by what their value is.
var (
	headerFlags = []string{"-H", "--header", "--headers"}
	bodyFlags   = []string{"--body", "--body-string", "--data", "--data-ascii", "--data-binary",
		"--data-raw", "--data-urlencode", "--json", "--post-data"}
	userFlags = []string{"--user", "--proxy-user"}
)

// shellNames are programs that take a command as the word behind -c.
var shellNames = []string{"ash", "bash", "dash", "fish", "ksh", "mksh", "runuser", "sh", "su",
	"zsh"}

// scriptFlag is the flag before that word, perhaps with others.
var scriptFlag = lazyregexp.New(`^-[a-z]*c$`)

// A commandLine replaces the secrets of a command.
type commandLine struct {
	Replacer
	shell bool // a shell reads it, and replaces $NAME
}

// Words is a command without its secrets: the values of flags and variables whose name is that of
// a secret, headers and bodies that it gives to a generator, and the credentials of URLs. In what a
// shell reads (sh -c) a variable, as $NAME, is no secret; elsewhere nobody replaces it, so that it
// is a value like others. A secret that has no name, as in mysql -pSECRET, is not found.
func (r Replacer) Words(command []string) []string {
	if r == nil {
		return command
	}
	return commandLine{Replacer: r}.words(command)
}

func (c commandLine) words(command []string) []string {
	kept := slices.Clone(command)
	for i, word := range command {
		if i > 0 {
			if value, is := c.redactNextWord(command[i-1], word); is {
				kept[i] = value
				continue
			}
		}
		within := commandLine{c.Replacer, c.shell || isScript(command[:i])}
		kept[i] = within.redactWord(word)
	}
	return kept
}

// isScript reports whether a shell reads what comes behind these words.
func isScript(before []string) bool {
	if len(before) == 0 || !scriptFlag().MatchString(before[len(before)-1]) {
		return false
	}
	return slices.ContainsFunc(before, func(word string) bool {
		return slices.Contains(shellNames, path.Base(word))
	})
}

// Line is a command that is one text, in words as a shell splits them, without its secrets. No
// shell replaces its variables.
func (r Replacer) Line(text string) string {
	if r == nil {
		return text
	}
	return commandLine{Replacer: r}.line(text)
}

func (c commandLine) line(text string) string {
	text = c.redactHeadersIn(text)
	at := piece().FindAllStringIndex(masked(text), -1)
	var words, trimmed []string
	for _, p := range at {
		word := text[p[0]:p[1]]
		words = append(words, word)
		trimmed = append(trimmed, unquoteWord(word))
	}
	var b strings.Builder
	done := 0
	for i, kept := range c.words(trimmed) {
		b.WriteString(text[done:at[i][0]])
		if trimmed[i] != "" {
			b.WriteString(strings.Replace(words[i], trimmed[i], kept, 1))
		} else {
			b.WriteString(words[i])
		}
		done = at[i][1]
	}
	return b.String() + text[done:]
}

// redactHeadersIn replaces the values of headers wherever they are in a text.
func (c commandLine) redactHeadersIn(text string) string {
	var b strings.Builder
	done := 0
	for _, at := range headerIn().FindAllStringSubmatchIndex(text, -1) {
		name, value := text[at[2]:at[3]], text[at[4]:at[5]]
		if !Secret(name) {
			continue
		}
		before := strings.Fields(text[:at[0]])
		within := commandLine{c.Replacer, c.shell}
		for i := range before {
			within.shell = within.shell || isScript(before[:i+1])
		}
		b.WriteString(text[done:at[4]] + within.redactSentHeader(name, value))
		done = at[5]
	}
	return b.String() + text[done:]
}

// unquoteWord is a word of a shell without the quotes around it.
func unquoteWord(word string) string {
	word = strings.TrimSuffix(word, ";")
	if n := len(word); n > 1 && word[0] == word[n-1] && strings.ContainsRune("'\"", rune(word[0])) {
		return word[1 : n-1]
	}
	return word
}

// redactNextWord is what is kept of a word that is a flag's value.
func (c commandLine) redactNextWord(flag, word string) (kept string, is bool) {
	if strings.HasPrefix(word, "-") {
		return "", false
	}
	return c.redactFlagValue(flag, word)
}

// redactFlagValue is what is kept of the value of a flag, if that can be a secret.
func (c commandLine) redactFlagValue(flag, value string) (kept string, is bool) {
	switch m := option().FindStringSubmatch(flag); {
	case slices.Contains(headerFlags, flag):
		if h := headerLine().FindStringSubmatch(value); h != nil {
			return h[0] + c.redactSentHeader(h[1], value[len(h[0]):]), true
		}
	case slices.Contains(bodyFlags, flag):
		if !strings.HasPrefix(value, "@") && !strings.HasPrefix(value, "{{") {
			return string(c.Body("", []byte(value))), true
		}
	case slices.Contains(userFlags, flag):
		if m := user().FindStringSubmatch(value); m != nil &&
			!(whole().MatchString(m[1]) && whole().MatchString(m[2])) { // docker's uid:gid
			if c.takes(m[2]) {
				return value, true
			}
			return m[1] + ":" + c.Replacer("password", m[2]), true
		}
	case m != nil && Secret(m[1]) && !isPlainSetting(m[1], value) && !c.takes(value):
		return c.Replacer(m[1], value), true
	}
	return "", false
}

// taken is what a shell replaces by the value of a variable.
var taken = lazyregexp.New(`^\$(\w+|\{\w+\})$`)

// takes reports whether a value is a variable's, which a shell puts there.
func (c commandLine) takes(value string) bool { return c.shell && taken().MatchString(value) }

// variable is what is kept of the value of a variable or of a flag.
func (c commandLine) variable(name, value string) string {
	switch {
	case c.takes(value):
		return value
	case Secret(name) && !isPlainSetting(name, value):
		return c.replace(name, value)
	}
	return c.redactConnection(name, value)
}

// shellTakes is a header of which a shell has all that is secret from a variable.
var shellTakes = lazyregexp.New(`^(?i:(bearer|basic|digest|token)\s+)?\$(\w+|\{\w+\})$`)

// redactSentHeader is what is kept of a header that a command sends.
func (c commandLine) redactSentHeader(name, value string) string {
	if c.shell && shellTakes().MatchString(value) {
		return value
	}
	return c.Header(name, value)
}

// redactWord is what is kept of a word that may be a command of its own, as sh -c takes one.
func (c commandLine) redactWord(word string) string {
	if h := headerLine().FindStringSubmatch(word); h != nil && Secret(h[1]) &&
		strings.ContainsAny(h[0], " \t") {
		return h[0] + c.redactSentHeader(h[1], word[len(h[0]):])
	}
	if m := assignment().FindString(word); m != "" && !c.shell && isSegmented(word[len(m):]) {
		return c.redactSingleWord(word)
	}
	if len(piece().FindAllStringIndex(masked(word), 2)) > 1 && !json.Valid([]byte(word)) {
		return c.line(word)
	}
	return c.redactSingleWord(word)
}

// redactSingleWord is what is kept of a word that is none.
func (c commandLine) redactSingleWord(word string) string {
	if m := assignment().FindStringSubmatch(word); m != nil {
		if strings.Contains(word, "&") && fields().MatchString(word) {
			return c.redactForm(word)
		}
		given := word[len(m[0]):]
		value := unquoteWord(given)
		kept, is := c.redactFlagValue(m[1], value)
		if !is {
			kept = c.variable(strings.TrimLeft(m[1], "-"), value)
		}
		return m[0] + strings.Replace(given, value, kept, 1)
	}
	if strings.HasPrefix(word, "{") && !strings.HasPrefix(word, "{{") && json.Valid([]byte(word)) {
		return string(c.Body("application/json", []byte(word)))
	}
	return c.Text(word)
}
