package redact

import (
	"strings"

	"dyno/internal/lazyregexp"
)

var (
	// noted begins what may be a setting in a comment.
	noted = lazyregexp.New(`([A-Za-z_][\w.-]*)(["']?[ \t]*[:=][ \t]*)`)
	// oneWord is a masked value without blanks, perhaps behind the name of a scheme.
	oneWord = lazyregexp.New(`^(?:(?i:basic|bearer|digest|negotiate|token|apikey)\s+)?` +
		`(\S+?)[,;]*$`)
	// telling is what a value has at least one of.
	telling = lazyregexp.New(`[\pL\pN]`)
)

// Comment is a comment of a file without the secrets of URLs, and without the values of settings in
// it whose name is that of a secret. Comments are sentences too: "key: the number of workers" has
// the form of a setting and is none. So a value is quoted, or stands directly behind an =, or
// within brackets, or it is one word to the line's end.
func (r Replacer) Comment(s string) string {
	if r == nil {
		return s
	}
	lines := strings.SplitAfter(r.Text(s), "\n")
	for i, line := range lines {
		lines[i] = r.commentLine(line)
	}
	return strings.Join(lines, "")
}

// commentLine is a line of a comment without the values of secret settings.
func (r Replacer) commentLine(line string) string {
	var b strings.Builder
	plain := masked(line)
	depth := 0 // of brackets at done
	for done := 0; ; {
		m := noted().FindStringSubmatchIndex(line[done:])
		if m == nil {
			return b.String() + line[done:]
		}
		name, sign, begin := line[done+m[2]:done+m[3]], line[done+m[4]:done+m[5]], done+m[1]
		depth = bracketsAfter(depth, line[done:begin])
		b.WriteString(line[done:begin])
		done = begin
		if !Secret(name) {
			continue
		}
		from, to := notedValue(plain[begin:], strings.HasSuffix(sign, "="), depth > 0)
		value := line[begin+from : begin+to]
		if !telling().MatchString(value) || isPlainSetting(name, value) {
			continue
		}
		b.WriteString(line[begin:begin+from] + r(name, value))
		done = begin + to
	}
}

// bracketsAfter is how many brackets are open behind a text, if so many are before it.
func bracketsAfter(depth int, text string) int {
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return depth
}

// notedValue says where in the rest of a masked line the value of a setting is, which stands
// directly behind an = if it is tight; to is 0 if there is none.
func notedValue(rest string, tight, bracketed bool) (from, to int) {
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		if n := quotedLength(rest); n > 0 {
			return 1, n - 1
		}
	}
	end := len(strings.TrimRight(rest, " \t\r\n"))
	for i := 0; i < end; i++ {
		blank := rest[i] == ' ' || rest[i] == '\t'
		if tight && blank || bracketed && strings.IndexByte(",]}", rest[i]) >= 0 {
			end = i
		}
	}
	value := strings.TrimRight(rest[:end], " \t")
	if bracketed && !tight {
		return 0, len(value)
	}
	if m := oneWord().FindStringSubmatchIndex(value); m != nil {
		return m[2], m[3]
	}
	return 0, 0
}

// quotedLength is how long the quotation is that a text begins with; 0 if it does not end.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] == '"':
			i++
		case text[i] == text[0] && i+1 < len(text) && text[i+1] == text[0] && text[0] == '\'':
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return 0
}
