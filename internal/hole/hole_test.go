package hole

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"
)

// errSaid is what a word says that has no value.
var errSaid = errors.New("there is none")

// words are those of the tests, for both evaluators.
func words() (Words, template.FuncMap) {
	join := func(args ...string) (string, error) { return "<" + strings.Join(args, "|") + ">", nil }
	fail := func() (string, error) { return "", errSaid }
	return Words{"f": Text("x"), "g": Text(""), "n": Int(4), "zero": Int(0),
			"port": {0, 2, func(args []string) (any, error) { return join(args...) }},
			"fail": {0, 0, func([]string) (any, error) { return fail() }},
		}, template.FuncMap{"f": func() any { return "x" }, "g": func() string { return "" },
			"n": func() any { return 4 }, "zero": func() int { return 0 },
			"port": join, "fail": fail}
}

// pieced is a text in its pieces, with the kinds of those that are not literal.
func pieced(t *testing.T, text string, of func(func(Piece) bool)) string {
	t.Helper()
	var b strings.Builder
	at := 0
	for p := range of {
		if p.At != at || text[at:at+len(p.Text)] != p.Text || p.Text == "" {
			t.Fatalf("%q: %+v, and %d were before", text, p, at)
		}
		at += len(p.Text)
		b.WriteString([]string{"", "E", "H", "O"}[p.Kind] + "[" + p.Text + "]")
	}
	if at != len(text) {
		t.Fatalf("%q ends at %d", text, at)
	}
	return b.String()
}

func TestPieces(t *testing.T) {
	for text, want := range map[string][2]string{ // of a request, of a template if it differs
		"":                        {""},
		"a{b}}":                   {"[a{b}}]"},
		"a{{b}}c":                 {"[a]H[{{b}}][c]"},
		"{{b}}}":                  {"H[{{b}}][}]"},
		`\{{b}}\\{{c}}\\\{{d`:     {`E[\{{][b}}\\]H[{{c}}][\\]E[\{{][d]`},
		`{{a}}\{{`:                {`H[{{a}}]E[\{{]`},
		`{{"}}"}}{{"\"}}"}}`:      {`H[{{"}}"}}]H[{{"\"}}"}}]`},
		`"{{{b}}:{"`:              {`["{]H[{{b}}][:{"]`},
		`\{{{b}}\\{{{c}}`:         {`E[\{{][{b}}\\{]H[{{c}}]`},
		"{{{{b}}{{{":              {"O[{{]H[{{b}}][{]O[{{]"},
		"{{a {{b}}":               {"O[{{][a ]H[{{b}}]"},
		"{{a\n}}":                 {"O[{{][a\n}}]", "H[{{a\n}}]"},
		"{{\"a\n\"}}":             {"O[{{][\"a\n\"}}]"},
		"{{`}}\n`}}":              {"H[{{`}}][\n`}}]", "H[{{`}}\n`}}]"},
		"{{/* }} \n{{ */}}x":      {"H[{{/* }}][ \n]H[{{ */}}][x]", "H[{{/* }} \n{{ */}}][x]"},
		"{{- /* \" */ -}}{{/*/}}": {"O[{{][- /* \" */ -}}]H[{{/*/}}]", "H[{{- /* \" */ -}}]O[{{][/*/}}]"},
		"{{/* a */ }}":            {"H[{{/* a */ }}]", "O[{{][/* a */ }}]"},
	} {
		if got := pieced(t, text, Pieces(text)); got != want[0] {
			t.Errorf("%q: %s, want %s", text, got, want[0])
		}
		if want[1] == "" {
			want[1] = want[0]
		}
		if got := pieced(t, text, TemplatePieces(text)); got != want[1] {
			t.Errorf("%q as a template: %s, want %s", text, got, want[1])
		}
	}
}

// However many braces nothing closes, a text is looked at a few times.
func TestPiecesAreLinear(t *testing.T) {
	const n = 20_000
	many := func(s string) string { return strings.Repeat(s, n) }
	for _, text := range []string{many(`{{\"`), many(`{{\"`) + "}}", many(`{{x"\" `), many("{{`\"\""),
		many("{{/*"), many("{{- /* "), many("{{/*") + "*/", many("{{"), many(`{{"a" `), many("{{\"{{`")} {
		for _, f := range []*finder{newFinder(text), newTemplateFinder(text)} {
			pieced(t, text, f.pieces)
			if most := 8 * len(text); f.steps > most {
				t.Errorf("%.12q…: %d steps for %d bytes (comments: %v)", text, f.steps, len(text), f.comments)
			}
		}
	}
}

// What a finder remembers changes no piece: each one is as of a text that begins with it.
func FuzzPieces(f *testing.F) {
	for _, s := range []string{`{{\"{{\"{{\"}}`, "{{`\"{{`\"}}{{\"`}}", "{{/*{{/* */ }}{{/* */}}", `{{"\"{{"\"}}`} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, is bool) {
		finder, length := newFinder(text), Length
		if is {
			finder, length = newTemplateFinder(text), TemplateLength
		}
		finder.seen = make([]uint8, len(text))
		for p := range finder.pieces {
			n := length(text[p.At:])
			if p.Kind == Hole && n != len(p.Text) || p.Kind == Open && n != 0 {
				t.Errorf("%q at %d: %+v, and a hole of %d begins there", text, p.At, p, n)
			}
		}
	})
}

func TestReadEnv(t *testing.T) {
	for inside, want := range map[string]Env{
		`env "A"`: {Name: "A"}, `env  "A"  "b c"`: {"A", "b c", true, 10, 5},
		`env "A" ""`: {"A", "", true, 8, 2}, `env "A" "\"}}"`: {"A", `"}}`, true, 8, 6},
	} {
		if e, is, ok := ReadEnv(inside); e != want || !is || !ok {
			t.Errorf("%s: %+v, %v, %v", inside, e, is, ok)
		}
	}
	for _, wrong := range []string{"env", "env A", `env ""`, `env "A" b`, `env "A" "b" "c"`, "env `A`", `env"A"`} {
		if e, is, ok := ReadEnv(wrong); !is || ok {
			t.Errorf("%s: %+v, %v, %v", wrong, e, is, ok)
		}
	}
	for _, other := range []string{"", "environment", "x"} {
		if _, is, _ := ReadEnv(other); is {
			t.Errorf("%s is env", other)
		}
	}
}

// filled is what a template makes, or its faults.
func filled(text string, w Words) (string, error) {
	t, faults := ParseTemplate(text)
	if len(faults) > 0 {
		var all []error
		for _, f := range faults {
			all = append(all, fmt.Errorf("%d: %w", f.At, f))
		}
		return "", errors.Join(all...)
	}
	made, _, err := t.Fill(w)
	return made, err
}

func TestTemplate(t *testing.T) {
	ours, _ := words()
	for text, want := range map[string]string{
		"a {{f}} b {{ n }}":                             "a x b 4",
		`{{if eq f "y" "x"}}1{{else}}2{{end}}`:          "1",
		`{{if eq n 3}}a{{else if n}}b{{end}}c`:          "bc",
		`{{if and f (ne n 5) (not g)}}y{{end}}`:         "y",
		`{{or g "d"}} {{and zero fail}}`:                "d 0",
		`{{port "a" "b"}}{{printf "%03d-%s" n (port)}}`: "<a|b>004-<>",
		"a  {{- /* no */ -}}\n {{f -}} \n b":            "axb",
		"{{\"{{\"}}{{`}}`}}":                            "{{}}", // the old way
		`\{{f}} \\{{f}} {{"\\"}}{{f}}`:                  `{{f}} \\x \x`,
		"{{1.50}} {{0x10}} {{true}} {{-3}}":             "1.5 16 true -3",
	} {
		if got, err := filled(text, ours); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

// What templates have not is refused with its place and a mend.
func TestTemplateFaults(t *testing.T) {
	ours, _ := words()
	for text, want := range map[string]string{
		"ab {{":                                `3: {{ is not closed by }}; write \{{ for braces that are meant as they are`,
		"{{}}":                                 `0: {{}} names nothing; write \{{ for braces that are meant as they are`,
		"{{.Dir}}":                             "0: .Dir has a dot; write {{Dir}}",
		"{{a.b.c}}":                            "0: .b.c has a dot; write {{b c}}",
		"{{n | printf}}":                       "0: n | printf is not for this; there are no variables and no pipes",
		"{{$x := 1}}":                          "0: $x := 1 is not for this; there are no variables and no pipes",
		"{{'a'}}":                              `0: "'" is not for this`,
		"{{nil}}":                              "0: nil is not for this; there are eq, ne, and, or, not and printf",
		"{{port n}}":                           "0: n is not a name in quotes",
		`{{port ("a")}}`:                       `0: ("a") is not a name in quotes`,
		`{{port"a"}}`:                          `0: a space is missing before "a"`,
		`{{"a" "b"}}`:                          `0: a value takes no arguments; names do`,
		"{{eq n eq}}":                          "0: eq is a function; write (eq …) with its values",
		"{{eq n}}":                             "0: eq takes two values or more; 1 are given",
		"{{not (eq n 1}}":                      "0: ( is not closed by )",
		"{{n)}}":                               "0: ) closes no (",
		"{{1a}}":                               "0: 1a is no number; write a text in quotes",
		"{{if n}}x":                            "0: {{if}} is not closed by {{end}}",
		"{{if}}x{{end}}":                       "0: a value is missing",
		"x{{end}}{{else}}":                     "1: {{end}} closes no {{if}}\n8: {{else}} stands in no {{if}}",
		"{{if n}}{{else}}{{else if n}}{{end}}": "16: {{else}} stands behind another {{else}}",
		"{{if n}}{{end n}}{{end}}":             "8: nothing can stand behind {{end}}, but n does",
		"{{range 9}}{{if n}}x{{end}}{{end}}{{.X}}": "0: {{range 9}} is not for this; there is {{if}}, and no loop\n" +
			"34: .X has a dot; write {{X}}",
		strings.Repeat("{{if n}}", maxDepth+1) + strings.Repeat("{{end}}", maxDepth+1):  "800: {{if}} stands in 100 others; 99 are possible",
		"{{" + strings.Repeat("(", maxDepth+1) + strings.Repeat(")", maxDepth+1) + "}}": "0: parentheses are nested deeper than 100",
		`{{if eq f 1}}{{end}}`: `a text is compared with a number; write "1"`,
		`{{ne "4" n}}`:         "a text is compared with a number; write 4 without quotes",
		"{{eq f n}}":           "a text is compared with a number; they are never equal",
		"{{printf n}}":         "the format of printf is no text; write it in quotes",
		`{{printf "%999999d%999999d%999999d%999999d%999999d" n n n n n}}`: "makes more than 4194304 bytes",
		strings.Repeat(`{{printf "%999999d" n}}`, 5):                      "makes more than 4194304 bytes",
		"{{fail}}":   "there is none",
		"{{nobody}}": "nobody is unknown",
		`{{n "a"}}`:  "n cannot have 1 arguments",
	} {
		_, err := filled(text, ours)
		if err == nil || err.Error() != want {
			t.Errorf("%.80s: %v; want %s", text, err, want)
		}
	}
	if _, err := filled("{{fail}}", ours); !errors.Is(err, errSaid) {
		t.Errorf("%v is not what the word said", err)
	}
}

func TestMentions(t *testing.T) {
	all, faults := ParseTemplate(`{{port "a"}}{{if and (eq f "1") n}}{{env "X" "y"}}{{else}}{{h}}{{end}}`)
	want := []Mention{{"port", []string{"a"}, 0}, {"f", nil, 12}, {"n", nil, 12}, {"env", []string{"X", "y"}, 35},
		{"h", nil, 58}}
	if len(faults) > 0 || !slices.EqualFunc(all.Mentions, want, func(a, b Mention) bool {
		return a.Word == b.Word && a.At == b.At && slices.Equal(a.Args, b.Args)
	}) {
		t.Errorf("%v, %v", all.Mentions, faults)
	}
}

// supported reports whether a tree of text/template has only what templates have here.
func supported(n parse.Node, ifs int) bool {
	switch n := n.(type) {
	case nil, *parse.TextNode, *parse.CommentNode:
		return true
	case *parse.ListNode:
		return n == nil || !slices.ContainsFunc(n.Nodes, func(m parse.Node) bool { return !supported(m, ifs) })
	case *parse.ActionNode:
		return simple(n.Pipe, 0)
	case *parse.IfNode:
		return ifs < maxDepth && simple(n.Pipe, 0) && supported(n.List, ifs+1) && (n.ElseList == nil || elseSupported(n.ElseList, ifs))
	}
	return false
}

// elseSupported is supported, in which else if is no condition within another.
func elseSupported(l *parse.ListNode, ifs int) bool {
	if len(l.Nodes) == 1 {
		if n, is := l.Nodes[0].(*parse.IfNode); is {
			return supported(n, ifs)
		}
	}
	return supported(l, ifs+1)
}

func simple(p *parse.PipeNode, depth int) bool {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 || depth > maxDepth {
		return false
	}
	args := p.Cmds[0].Args
	name, is := args[0].(*parse.IdentifierNode)
	if !is {
		return len(args) == 1 && operand(args[0], depth)
	}
	takes, function := arities[name.Ident]
	if slices.Contains(reserved, name.Ident) {
		return false
	}
	for _, a := range args[1:] {
		if _, quoted := a.(*parse.StringNode); function && !operand(a, depth) || !function && !quoted {
			return false
		}
	}
	n := len(args) - 1
	return !function || takes.least <= n && n <= takes.most
}

func operand(n parse.Node, depth int) bool {
	switch n := n.(type) {
	case *parse.StringNode, *parse.BoolNode:
		return true
	case *parse.IdentifierNode:
		return !Reserved(n.Ident)
	case *parse.NumberNode:
		return !n.IsComplex && n.Text[0] != '\'' && (n.IsInt || strings.ContainsAny(n.Text, ".eEpP"))
	case *parse.PipeNode:
		return simple(n, depth+1)
	}
	return false
}

// What templates have makes the same text as with text/template, or an error with both. What they
// have not is refused.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"", " ", "a{{f}}b", `{{if eq f "node"}}node{{else}}{{dyno}}{{end}}`, "{{- f -}} x", "a {{- 3 }} b",
		`{{if (eq n 4)}}a{{else if ne f "y"}}{{port "a" "b"}}{{else}}{{n}}{{end}}`, "{{/* c */}}x{{- /* } */ -}} y",
		`{{and f (or g zero) (not n)}}`, "{{printf \"%v %q %x %*d\" n f g 5 zero}}", "{{`raw` }}{{\"}}\"}}",
		"{{1.5e3}}{{0x1f}}{{-0x1e}}{{+5}}{{1_000}}{{.5}}{{017}}{{1i}}{{'a'}}", "{{if n}}{{end}}{{end}}", "{{range 3}}x{{end}}",
		"{{if(n)}}y{{end}}", "{{if\"x\"}}y{{end}}", "{{n.x}}", "{{eq 1 1.0}}", "{{eq true f}}", "{{fail}}", "{{or 1 fail}}",
		"{{ if eq n\n4 -}} \n z {{- else -}} w {{ end }}", "{{with f}}{{else}}{{end}}", "{{define \"x\"}}{{end}}", "{{$x := 1}}",
		"{{n|printf \"%d\"}}", "{{(f)(n)}}", "{{()}}", "{{ - }}", "{{-}}", "{{- -}}", "{{if n}}{{else}}{{else}}{{end}}", "{{nil}}",
		"{{break}}", "{{else if n}}", "{{eq n}}", "{{9223372036854775808}}", "{{1e999}}", "{{port \"\\xff\"}}", "{{f,n}}", "{{!}}",
		"{{true}}{{false }}", "{{\"a\" \"b\"}}", "{{printf n}}", "{{printf \"%[2]d %[1]s\" f n}}", "{{len f}}", "{{eq eq n}}",
		"{{if n}} a {{- else if f -}} b {{- end -}} c", "{{port `a`}}", "{{n -}}\n\n{{- n}}", "{{not (not (not f))}}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { compare(t, text) })
}

// odd is a pipe into nothing, which text/template leaves out of its tree, or a fraction without a
// space before it.
var odd = regexp.MustCompile(`\|\s*(-?\}\}|\))|if\.\d`)

func compare(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(text, `\{{`) || strings.Contains(text, "{{{") || wide(text) || odd.MatchString(text) {
		return
	}
	ours, theirs := words()
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	_, refused := tree.Parse(text, "", "", trees)
	_, faults := ParseTemplate(text)
	if has := refused == nil && len(trees) == 1 && supported(tree.Root, 0); has != (len(faults) == 0) {
		t.Fatalf("%q is supported: %v, and has the faults %v; text/template: %v", text, has, faults, refused)
	} else if !has {
		if f := faults[0]; f.At < 0 || f.At > len(text) || f.Error() == "" {
			t.Fatalf("%q: %+v", text, f)
		}
		return
	}
	got, err := filled(text, ours)
	var want strings.Builder
	parsed, wrong := template.New("").Funcs(theirs).Parse(text)
	if wrong == nil {
		wrong = parsed.Execute(&want, nil)
	}
	if unknown := err == nil && wrong != nil && strings.Contains(wrong.Error(), "not defined"); unknown {
		return // it looks names up in what is never reached, too
	}
	if (err == nil) != (wrong == nil) || err == nil && got != want.String() {
		t.Fatalf("%q: %q, %v; text/template: %q, %v", text, got, err, want.String(), wrong)
	}
}

// wide reports whether a text has a number that, as a width, makes much of little.
func wide(text string) bool {
	digits := 0
	for i := range len(text) {
		if digits++; !isDigit(text[i]) && text[i] != '_' {
			digits = 0
		} else if digits > 4 && strings.Contains(text, "%") {
			return true
		}
	}
	return false
}

// Templates of the grammar: most of what a fuzzer makes is none.
func TestGrammar(t *testing.T) {
	filled := 0
	for seed := range uint64(20_000) {
		g := newMaker(seed)
		text := g.list(3)
		compare(t, text)
		if _, faults := ParseTemplate(text); len(faults) == 0 {
			filled++
		}
	}
	if filled < 10_000 {
		t.Errorf("only %d templates have no faults", filled)
	}
}

// What is estimated of a text that is written as it is is about its length, and what printf makes
// for conditions counts.
func TestFillCounts(t *testing.T) {
	long := strings.Repeat("é", 1<<19)
	for text, want := range map[string]int{
		`{{printf "%s-%-3v" f "y"}}`: 10, `a{{if printf "%100d" 1}}b{{end}}`: 102, "{{if f}}x{{end}}": 1,
		`{{printf "%s" "` + long + `"}}`: 2 << 20, `{{printf "%q" "` + long + `"}}`: 0,
		strings.Repeat(`{{if not (printf "%1000000d" 1)}}x{{end}}`, 4): 4e6,
		strings.Repeat(`{{if not (printf "%1000000d" 1)}}x{{end}}`, 5): 0,
	} {
		ours, _ := words()
		parsed, faults := ParseTemplate(text)
		_, made, err := parsed.Fill(ours)
		if made != want || faults != nil || (want == 0) != errors.Is(err, errTooLong) {
			t.Errorf("%.60s: %d bytes, %v, %v; want %d", text, made, faults, err, want)
		}
	}
}

// What fmt makes of a format is never longer than what was estimated.
func FuzzPrintf(f *testing.F) {
	f.Add("%d %s %x %q %[1]v %*d %.300f", "a\x00b", 12, 1e300)
	f.Add("%!%%%999d%-+ #x%T%v", "\U0010ffff", -5, 0.5)
	f.Fuzz(func(t *testing.T, format, s string, n int, x float64) {
		args := []any{s, n, x, true}
		if estimated := longest(format, args); estimated <= 1<<16 {
			if made := fmt.Sprintf(format, args...); len(made) > estimated {
				t.Errorf("%q of %q, %d, %g has %d bytes, and %d were estimated", format, s, n, x, len(made), estimated)
			}
		}
	})
}

// Braces that are meant as they are are a template that makes them.
func FuzzVerbatim(f *testing.F) {
	for _, s := range []string{"", "{{", `\{{x}}`, `a\\{{`, "{{{{{", `\`, `{{"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ours, _ := words()
		between := VerbatimBeforeHole(text) + "{{f}}" + Verbatim(text)
		if got, err := filled(between, ours); got != text+"x"+text || err != nil {
			t.Errorf("%q became %q, which makes %q, %v", text, between, got, err)
		}
		pieced(t, text, Pieces(text))
		pieced(t, text, TemplatePieces(text))
	})
}
