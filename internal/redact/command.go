package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var (
	// option is a flag whose value is the next word.
	option = regexp.MustCompile(`^--?([A-Za-z][\w.-]+)$`)
	// assignment is a variable or a flag with its value.
	assignment = regexp.MustCompile(`^(-{0,2}[A-Za-z_][\w.-]*)=`)
	// headerLine is a header as a word of its own.
	headerLine = regexp.MustCompile(`^([A-Za-z][\w-]*):\s*`)
	// headerIn is a header within a text.
	headerIn = regexp.MustCompile(`\b([A-Za-z][\w-]*):[ \t]+([^'"\r\n]+)`)
	// piece is a word of a text that is a command; a template's action, or a quotation, is in one.
	piece = regexp.MustCompile(`(?:\{\{.*?\}\}|'[^']*'|"[^"]*"|\S)+`)
	// user is a name and a password.
	user = regexp.MustCompile(`^([^:/]+):([^/].*)$`)
)

// Flags, of whatever program, by what their value is.
var (
	headerFlags = []string{"-H", "--header", "--headers"}
	bodyFlags   = []string{"--body", "--body-string", "--data", "--data-ascii", "--data-binary",
		"--data-raw", "--data-urlencode", "--json", "--post-data"}
	userFlags = []string{"--user", "--proxy-user"}
)

// Words is a command without its secrets: the values of flags and variables whose name is that of
// a secret, headers and bodies that it gives to a generator, and the credentials of URLs. A
// secret that has no name, as in mysql -pSECRET, is not found.
func (r Replacer) Words(command []string) []string {
	if r == nil {
		return command
	}
	kept := slices.Clone(command)
	for i, word := range command {
		if i > 0 {
			if value, is := r.redactNextWord(command[i-1], word); is {
				kept[i] = value
				continue
			}
		}
		kept[i] = r.redactWord(word)
	}
	return kept
}

// Line is a command that is one text, as a shell has it, without its secrets.
func (r Replacer) Line(text string) string {
	if r == nil {
		return text
	}
	text = headerIn.ReplaceAllStringFunc(text, func(s string) string {
		m := headerIn.FindStringSubmatch(s)
		if !Secret(m[1]) {
			return s
		}
		return strings.TrimSuffix(s, m[2]) + r.redactSentHeader(m[1], m[2])
	})
	at := piece.FindAllStringIndex(text, -1)
	var words, trimmed []string
	for _, p := range at {
		word := text[p[0]:p[1]]
		words = append(words, word)
		trimmed = append(trimmed, unquoteWord(word))
	}
	var b strings.Builder
	done := 0
	for i, kept := range r.Words(trimmed) {
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

// unquoteWord is a word of a shell without the quotes around it.
func unquoteWord(word string) string {
	word = strings.TrimSuffix(word, ";")
	if n := len(word); n > 1 && word[0] == word[n-1] && strings.ContainsRune("'\"", rune(word[0])) {
		return word[1 : n-1]
	}
	return word
}

// redactNextWord is what is kept of a word that is a flag's value.
func (r Replacer) redactNextWord(flag, word string) (kept string, is bool) {
	if strings.HasPrefix(word, "-") {
		return "", false
	}
	return r.redactFlagValue(flag, word)
}

// redactFlagValue is what is kept of the value of a flag, if that can be a secret.
func (r Replacer) redactFlagValue(flag, value string) (kept string, is bool) {
	switch m := option.FindStringSubmatch(flag); {
	case slices.Contains(headerFlags, flag):
		if h := headerLine.FindStringSubmatch(value); h != nil {
			return h[0] + r.redactSentHeader(h[1], value[len(h[0]):]), true
		}
	case slices.Contains(bodyFlags, flag):
		if !strings.HasPrefix(value, "@") && !strings.HasPrefix(value, "{{") {
			return string(r.Body("", []byte(value))), true
		}
	case slices.Contains(userFlags, flag):
		if m := user.FindStringSubmatch(value); m != nil &&
			!(whole.MatchString(m[1]) && whole.MatchString(m[2])) { // docker's uid:gid
			if taken.MatchString(m[2]) {
				return value, true
			}
			return m[1] + ":" + r("password", m[2]), true
		}
	case m != nil && Secret(m[1]) && !isPlainSetting(m[1], value):
		return r(m[1], value), true
	}
	return "", false
}

// shellTakes is a header of which a shell has all that is secret from a variable.
var shellTakes = regexp.MustCompile(`^(?i:(bearer|basic|digest|token)\s+)?\$(\w+|\{\w+\})$`)

// redactSentHeader is what is kept of a header that a command sends.
func (r Replacer) redactSentHeader(name, value string) string {
	if shellTakes.MatchString(value) {
		return value
	}
	return r.Header(name, value)
}

// redactWord is what is kept of a word that may be a command of its own, as sh -c takes one.
func (r Replacer) redactWord(word string) string {
	if h := headerLine.FindStringSubmatch(word); h != nil && Secret(h[1]) &&
		strings.ContainsAny(h[0], " \t") {
		return h[0] + r.redactSentHeader(h[1], word[len(h[0]):])
	}
	if len(piece.FindAllStringIndex(word, 2)) > 1 && !json.Valid([]byte(word)) {
		return r.Line(word)
	}
	return r.redactSingleWord(word)
}

// redactSingleWord is what is kept of a word that is none.
func (r Replacer) redactSingleWord(word string) string {
	if m := assignment.FindStringSubmatch(word); m != nil {
		if strings.Contains(word, "&") && fields.MatchString(word) {
			return r.redactForm(word)
		}
		given := word[len(m[0]):]
		value := unquoteWord(given)
		kept, is := r.redactFlagValue(m[1], value)
		if !is {
			kept = r.Variable(strings.TrimLeft(m[1], "-"), value)
		}
		return m[0] + strings.Replace(given, value, kept, 1)
	}
	if strings.HasPrefix(word, "{") && !strings.HasPrefix(word, "{{") && json.Valid([]byte(word)) {
		return string(r.Body("application/json", []byte(word)))
	}
	return r.Text(word)
}
