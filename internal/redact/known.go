package redact

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"

	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dyno/internal/lazyregexp"
)

// Lengths of values that are searched for, in bytes, and how many there are at most. A value is in
// many texts by chance if it is short: below shortestPart it is not searched for, and below
// shortestHidden only as a whole word. Of a value that was cut, less than shortestInWord is not
// found within a longer word: "test" begins many secrets, and ends "latest". Of a longer value than
// longestKnown its beginning is known.
const (
	shortestPart   = 4
	shortestHidden = 6
	shortestInWord = 8
	longestKnown   = 4 << 10
	MostKnown      = 4 << 10
)

// Known are the values of secrets that are searched for in texts of others, as they are and as
// %q, JSON, percent-encoding and base64 write them. Only texts of others are searched, such as the
// last output of a server: they may quote what they were sent, and cut it. A request is not
// searched but expanded twice, with values and with marks, because a value such as 1 is in many
// texts. A nil Known finds nothing. It may be used by several goroutines.
type Known struct {
	keep  Replacer
	whole *strings.Replacer
	words []form            // that are found as whole words only
	cores []form            // of base64, whatever is encoded before and after a value
	begin map[string][]form // those that are long enough, by the bytes that they begin with
	end   map[string][]form // likewise, by those they end with
}

// A form is a text by which a secret value is found, and what stands in its place.
type form struct{ text, mark string }

// NewKnown is what is Known of values. keep says what stands in their places; nil: nothing is
// known. What is a part of a public text is searched for nowhere.
func NewKnown(keep Replacer, values []string, public ...string) *Known {
	if keep == nil {
		return nil
	}
	k := &Known{keep: keep, begin: map[string][]form{}, end: map[string][]form{}}
	var long []form
	had := map[string]bool{}
	for _, value := range values[:min(len(values), MostKnown)] {
		if IsMark(value) {
			continue
		}
		for _, v := range secretParts(value[:min(len(value), longestKnown)]) {
			if slices.ContainsFunc(public, func(s string) bool { return strings.Contains(s, v) }) {
				continue
			}
			for i, text := range spellings(v) {
				switch f := (form{text, keep("", value)}); {
				case had[text] || len(text) < shortestPart ||
					slices.Contains(switches, strings.ToLower(text)):
				case len(v) < shortestHidden:
					k.words = append(k.words, f)
				default:
					long = append(long, f)
					if i == 0 {
						k.cores = append(k.cores, base64Cores(v, f.mark)...)
					}
				}
				had[text] = true
			}
		}
	}
	k.buildIndex(long)
	return k
}

// buildIndex makes what forms are found by. One may begin as another, so the longest come first.
func (k *Known) buildIndex(long []form) {
	longest := func(a, b form) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), strings.Compare(a.text, b.text))
	}
	slices.SortFunc(long, longest)
	slices.SortFunc(k.words, longest)
	var pairs []string
	for _, f := range long {
		pairs = append(pairs, f.text, f.mark)
		first, last := f.text[:shortestPart], f.text[len(f.text)-shortestPart:]
		k.begin[first], k.end[last] = append(k.begin[first], f), append(k.end[last], f)
	}
	k.whole = strings.NewReplacer(pairs...)
}

// scheme begins a credential.
var scheme = lazyregexp.New(`^(?i:basic|bearer|digest|negotiate|token|apikey)\s+(?s:(\S.*))$`)

// shortestCookie is how long a part of a cookie is that is a secret by itself.
const shortestCookie = 8

// unescape is what a value between quotes of settings stands for.
var unescape = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\ `, ` `, `''`, `'`, `""`, `"`)

// secretParts are a value and what of it is secret by itself: what is behind a scheme's name, the
// password in what that encodes, the values of cookies, and what percent-encoding and the quoting
// of settings stand for.
func secretParts(value string) []string {
	all := []string{value}
	if m := scheme().FindStringSubmatch(value); m != nil {
		all = append(all, m[1])
		if plain, err := base64.StdEncoding.DecodeString(m[1]); err == nil && utf8.Valid(plain) {
			_, password, _ := strings.Cut(string(plain), ":")
			all = append(all, string(plain), password)
		}
	}
	for pair := range strings.SplitSeq(value, ";") {
		name, v, found := strings.Cut(strings.TrimSpace(pair), "=")
		if found && len(v) >= shortestCookie && !strings.ContainsAny(name, " \t\n") {
			all = append(all, v)
		}
	}
	for _, v := range all {
		if plain, err := url.PathUnescape(v); err == nil && plain != v {
			all = append(all, plain)
		}
		if plain, err := url.QueryUnescape(v); err == nil && plain != v {
			all = append(all, plain)
		}
		if plain := unescape.Replace(v); plain != v {
			all = append(all, plain)
		}
	}
	return all
}

// spellings are the ways in which a value is written into texts, itself first.
func spellings(v string) []string {
	query := url.QueryEscape(v)
	all := []string{v, query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(v),
		regexp.QuoteMeta(v), strconv.Quote(v), strconv.QuoteToASCII(v), quoteJSON(v)}
	for i, s := range all {
		if i >= len(all)-3 {
			all[i] = s[1 : len(s)-1]
		}
	}
	for _, s := range all[1:4] {
		all = append(all, lowerHex().ReplaceAllStringFunc(s, strings.ToLower))
	}
	return all
}

var lowerHex = lazyregexp.New(`%[0-9A-F]{2}`)

// base64Cores are what base64 makes of a value, whatever stands before and after it, as a user's
// name does in the header Authorization: it depends on how many bytes do, of which three are a
// group.
func base64Cores(v, mark string) (all []form) {
	for before := range 3 {
		bits := 8 * (before + len(v))
		coded := base64.StdEncoding.EncodeToString(append(make([]byte, before), v...))
		core := coded[(8*before+5)/6 : bits/6]
		all = append(all, form{core, mark})
		if other := strings.NewReplacer("+", "-", "/", "_").Replace(core); other != core {
			all = append(all, form{other, mark})
		}
	}
	return all
}

// Text is s without secret values.
func (k *Known) Text(s string) string { return k.replaceBetweenMarks(s, k.replaceWhole) }

// Cut is likewise a text that may have been cut: before its end, before a quotation's, or after a
// line's begin. Of a value that was cut there at least four bytes are found, or eight if the other
// end of what is left is within a word.
func (k *Known) Cut(s string) string {
	return k.replaceBetweenMarks(s,
		func(s string) string { return k.replaceCutEnds(k.replaceWhole(s)) })
}

// replaceBetweenMarks searches what of s is no mark.
func (k *Known) replaceBetweenMarks(s string, search func(string) string) string {
	if k == nil || s == "" {
		return s
	}
	var b strings.Builder
	done := 0
	for _, at := range within().FindAllStringIndex(s, -1) {
		b.WriteString(search(s[done:at[0]]) + s[at[0]:at[1]])
		done = at[1]
	}
	b.WriteString(search(s[done:]))
	return k.keep.Text(b.String())
}

// replaceWhole replaces whole values.
func (k *Known) replaceWhole(s string) string {
	s = k.whole.Replace(s)
	for _, f := range k.words {
		s = replaceWord(s, f)
	}
	for _, f := range k.cores {
		for from := 0; ; {
			i := strings.Index(s[from:], f.text)
			if i < 0 {
				break
			}
			begin, end := base64Run(s, from+i, from+i+len(f.text))
			s = s[:begin] + f.mark + s[end:]
			from = begin + len(f.mark)
		}
	}
	return s
}

// base64Run is the base64 around a part of it.
func base64Run(s string, begin, end int) (int, int) {
	coded := func(c byte) bool {
		return c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)) ||
			strings.IndexByte("+/-_", c) >= 0)
	}
	for begin > 0 && coded(s[begin-1]) {
		begin--
	}
	for end < len(s) && coded(s[end]) {
		end++
	}
	for end < len(s) && s[end] == '=' {
		end++
	}
	return begin, end
}

// replaceWord replaces a form where no letter and no digit is beside it.
func replaceWord(s string, f form) string {
	for from := 0; ; {
		i := strings.Index(s[from:], f.text)
		if i < 0 {
			return s
		}
		begin, end := from+i, from+i+len(f.text)
		if endsInWord(s[:begin]) || beginsInWord(s[end:]) {
			from = begin + 1
			continue
		}
		s = s[:begin] + f.mark + s[end:]
		from = begin + len(f.mark)
	}
}

// endsInWord reports whether the last of s is a letter, a digit or _.
func endsInWord(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && isOfWord(last)
}

// beginsInWord reports whether the first of s is a letter, a digit or _.
func beginsInWord(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return s != "" && isOfWord(first)
}

func isOfWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// replaceCutEnds replaces the beginning of a value where a text was cut after it, and the end of
// one where it was cut before.
func (k *Known) replaceCutEnds(s string) string {
	for i := 0; i+shortestPart <= len(s); i++ {
		if n, mark := k.prefixLength(s, i); n > 0 {
			s = s[:i] + mark + s[i+n:]
			i += len(mark) - 1
		}
	}
	for i := len(s); i >= shortestPart; i-- {
		if n, mark := k.suffixLength(s, i); n > 0 {
			s = s[:i-n] + mark + s[i:]
			i -= n
		}
	}
	return s
}

// prefixLength is how much of a value there is from i on, if that is as far as s goes, or a
// quotation in it; 0 if it is none.
func (k *Known) prefixLength(s string, i int) (n int, mark string) {
	shortest := shortestPart
	if endsInWord(s[:i]) && (i < 2 || s[i-2] != '\\') { // %q has line ends as \n
		shortest = shortestInWord
	}
	for _, f := range k.begin[s[i:i+shortestPart]] {
		for n = 0; n < len(f.text) && i+n < len(s) && f.text[n] == s[i+n]; {
			n++
		}
		for ; n >= shortest; n-- {
			rest := s[i+n:]
			if rest == "" || rest[0] == '"' || strings.HasPrefix(rest, `\"`) ||
				strings.HasPrefix(rest, "…") {
				return n, f.mark
			}
		}
	}
	return 0, ""
}

// suffixLength is likewise how much of a value there is before i, if a line begins with it.
func (k *Known) suffixLength(s string, i int) (n int, mark string) {
	shortest := shortestPart
	if beginsInWord(s[i:]) {
		shortest = shortestInWord
	}
	for _, f := range k.end[s[i-shortestPart:i]] {
		for n = 0; n < min(len(f.text), i) && f.text[len(f.text)-1-n] == s[i-1-n]; {
			n++
		}
		for ; n >= shortest; n-- {
			if i == n || s[i-n-1] == '\n' {
				return n, f.mark
			}
		}
	}
	return 0, ""
}
