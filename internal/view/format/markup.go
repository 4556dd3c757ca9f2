package format

import (
	"strings"

	"dyno/internal/lazyregexp"
)

// EscapeMarkdown is EscapeCell for a line of its own, which is neither a heading, a list nor a
// command to GitLab.
func EscapeMarkdown(s string) string {
	return lineStart().ReplaceAllString(EscapeCell(s), `$1$3\$2$4`)
}

// EscapeCell keeps s from being Markdown, and from what sites make of plain words: a word that
// would mention somebody, become a link, or refer to an issue is code, which they leave alone. An
// escape or an entity does not help there, for they look at what was rendered.
func EscapeCell(s string) string {
	words := strings.Split(PlainLine(s), " ")
	for i, word := range words {
		if LiveWord(word) != "" {
			words[i] = asCode(word)
		} else {
			words[i] = escapeWord(word)
		}
		if i > 0 && lowEnd().MatchString(words[i-1]) && highEnd().MatchString(words[i]) {
			words[i-1] = words[i-1][1:] // a backslash
		}
	}
	return strings.Join(words, " ")
}

// The two words of an interval, the first as escapeWord has it: its bracket begins no link.
var (
	lowEnd  = lazyregexp.New(`^\\\[[−+-]?[0-9.,]+,$`)
	highEnd = lazyregexp.New(`^[−+-]?[0-9.,]+\][.,;)]*$`)
)

// escapeWord is a word that is no code. A _ between letters or digits emphasises nothing.
func escapeWord(word string) string {
	word = markup.Replace(word)
	for again := ""; again != word; {
		again, word = word, inWord().ReplaceAllString(word, "${1}_$2")
	}
	return word
}

var inWord = lazyregexp.New(`([\pL\pN])\\_([\pL\pN])`)

var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`,
	"~", `\~`, "<", "&lt;", "&", "&amp;")

// live is what makes of a word more than its letters: a mention or an address of mail, a link, the
// number of an issue or of a change; and on GitLab also of a snippet or an epic, a label, a
// milestone, an iteration, and what is named in brackets, as [vulnerability:1].
var live = lazyregexp.New(`(?i)@|://|www\.|mailto:|xmpp:|[#!$&][0-9]|\bgh-[0-9]|` +
	`~["\pL\pN_.?&:-]|%["\pL\pN_]|\*iteration:|\[[a-z_]+:`)

// LiveWord is the first part of text of which a site would make more than its letters; "" if there
// is none.
func LiveWord(text string) string { return live().FindString(text) }

// lineStart is what makes of a line that begins with it a heading, a list, a quotation, a rule, or,
// where GitLab reads it, a command.
var lineStart = lazyregexp.New(`^([0-9]{0,9})([.)](?: |$)|#{1,6}(?: |$)|[-+](?: |$)|>|[-=]+$)` +
	`|^()(/[A-Za-z])`)

// asCode is a word as code, but for the punctuation around it. What code cannot hold, in a table
// or at all, stands between two pieces of it.
func asCode(word string) string {
	core := strings.TrimRight(strings.TrimLeft(word, "("), ".,;:)")
	before, after, _ := strings.Cut(word, core)
	var b strings.Builder
	b.WriteString(markup.Replace(before))
	for core != "" {
		n := strings.IndexAny(core, "|`")
		if n != 0 {
			if n < 0 {
				n = len(core)
			}
			b.WriteString("`" + core[:n] + "`")
			core = core[n:]
			continue
		}
		b.WriteString(markup.Replace(core[:1]))
		core = core[1:]
	}
	return b.String() + markup.Replace(after)
}

// CodeSpan is s as code within a line of Markdown, whatever backquotes it has.
func CodeSpan(s string) string {
	s = PlainLine(s)
	mark := "`"
	for strings.Contains(s, mark) {
		mark += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return mark + s + mark
}

// CSVField is a cell of CSV with a text of others, which a spreadsheet is not to compute: those
// that begin as a formula does get an apostrophe.
func CSVField(text string) string {
	text = PlainLine(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}
