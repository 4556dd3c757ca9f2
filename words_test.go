package dyno_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dyno/internal/setting"
)

// spoken are the folders that have flags: of the command line, of forms with its settings, and of what they show. All
// others below internal are silent: who describes a load in a file, in a form or in a program has no flags.
var spoken = []string{"internal/cli/", "internal/setting/", "internal/view/"}

// ownFlags are folders and files of the silent ones that name a flag, with the reason.
var ownFlags = map[string]string{
	"internal/dynohome/store.go":               "the home is that of the command line",
	"internal/engine/data/data.go":             "iconv's",
	"internal/engine/data/jsonlines.go":        "jq's",
	"internal/fleet/bus/":                      "where the bus is says the command line alone",
	"internal/fleet/controller.go":             "who is in a fleet says the command line alone",
	"internal/fleet/deploy/":                   "of dyno fleet up, and of the agents it starts",
	"internal/fleet/stages.go":                 "as of controller.go",
	"internal/fleet/watch/controller.go":       "of dyno agent",
	"internal/imports/curl/":                   "curl's, and those of dyno that it translates them to",
	"internal/lab/run/lab.go":                  "of dyno lab run: how an experiment is gone on with",
	"internal/lab/run/secrets.go":              "of dyno lab run",
	"internal/lab/run/sensitivity.go":          "wrk's",
	"internal/say/arms.go":                     "a whole command to try",
	"internal/lab/store.go":                    "of dyno lab run",
	"internal/lab/versus/":                     "of dyno vs, whose commands it writes, and git's",
	"internal/notices/generate/main.go":        "go's",
	"internal/observe/profile/record_linux.go": "perf's",
	"internal/redact/command.go":               "it reads command lines",
	"internal/redact/redact.go":                "a regular expression",
	"internal/target/":                         "of dyno target",
}

var flagInText = regexp.MustCompile(`(?:^|[\s('])--?([A-Za-z][\w-]*)`)

// No text there names a flag of dyno: who describes a load in a file, in a form or in a program has none. Remedies and
// flaws name settings, and whoever shows them has the voice.
func TestFlagsAreSaid(t *testing.T) {
	flags := map[string]bool{}
	for _, verb := range []setting.Verbs{setting.Run, setting.Find, setting.Vs} {
		for _, g := range setting.Groups(verb) {
			for _, s := range g.Settings {
				flags[s.Name], flags[s.Short] = true, true
			}
		}
	}
	for _, name := range []string{"resume", "quick", "show-secrets", "secret"} { // of dyno lab run
		flags[name] = true
	}
	found := map[string]bool{}
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		in := func(folder string) bool { return strings.HasPrefix(path, folder) }
		if s.isTest() || !in("internal/") || slices.ContainsFunc(spoken, in) {
			continue
		}
		exempt := ""
		for where := range ownFlags {
			if in(where) {
				exempt = where
			}
		}
		eachLiteral(s, func(at ast.Expr, text string) {
			for _, m := range flagInText.FindAllStringSubmatch(strings.ReplaceAll(text, "ulimit -n", ""), -1) {
				if !flags[m[1]] {
					continue
				}
				if found[exempt] = true; exempt == "" {
					t.Errorf("%s: %q names a flag: give a remedy or a flaw that names the setting", s.set.Position(at.Pos()), text)
				}
			}
		})
	}
	for path := range ownFlags {
		if !found[path] {
			t.Errorf("%s names no flag any more: it needs no exemption", path)
		}
	}
}

// wordless are the folders that find facts and have no sentence, but for errors. A sentence is of package say.
var wordless = []string{"internal/capacity/", "internal/engine/failure/", "internal/engine/load/",
	"internal/engine/ring/", "internal/engine/session/", "internal/engine/transport/", "internal/fact/", "internal/fairness/", "internal/lab/design/",
	"internal/lab/grade/", "internal/lab/judge/", "internal/lab/run/", "internal/objective/", "internal/result/"}

// ownSentences are files of these that have sentences, with the reason.
var ownSentences = map[string]string{
	"internal/capacity/calibratering.go":  "what calibrate measures now, for a line of progress",
	"internal/engine/failure/failure.go":  "the detail of an error of a kind",
	"internal/engine/failure/words.go":    "the details of errors, which others repeat: causes are there, what to do is not",
	"internal/engine/load/run.go":         "flaws of a plan, which name settings",
	"internal/engine/transport/spread.go": "flaws of a plan, which name settings",
	"internal/fairness/aspect.go":         "what an answer is in an aspect: two are alike if these words are, and JSON has them",
	"internal/fairness/fairness.go":       "how a connection ended, a value of JSON that is compared",
	"internal/fairness/tally.go":          "how a body is compressed, a value of JSON that is compared",
	"internal/lab/run/ceiling.go":         "a file of an experiment",
	"internal/result/partial.go":          "how a run ended, in a few words",
	"internal/result/hdrfile/hdrfile.go":  "a comment in a file of another format",
}

// makesErrors are the functions whose texts are errors or flaws.
var makesErrors = regexp.MustCompile(`^(errors\.New|fmt\.Errorf|flaw|wrong|\w+Fault)$`)

// No text of those who find facts is a sentence, which is four words or more.
func TestSentencesAreSaid(t *testing.T) {
	found := map[string]bool{}
	for _, s := range parsed(t) {
		path := filepath.ToSlash(s.path)
		if s.isTest() || !slices.ContainsFunc(wordless, func(folder string) bool { return strings.HasPrefix(path, folder) }) {
			continue
		}
		errs := ofErrors(s)
		eachLiteral(s, func(at ast.Expr, text string) {
			if errs[at] || len(sentenceWord.FindAllString(text, -1)) < 4 {
				return
			}
			if found[path] = true; ownSentences[path] == "" {
				t.Errorf("%s: %q is a sentence: make it a fact, which package say says", s.set.Position(at.Pos()), text)
			}
		})
	}
	for path := range ownSentences {
		if !found[path] {
			t.Errorf("%s has no sentence any more: it needs no exemption", path)
		}
	}
}

var sentenceWord = regexp.MustCompile(`(?:^|\s)[A-Za-z][\w.']*`)

// ofErrors are the nodes below the arguments of what makes errors.
func ofErrors(s source) map[ast.Node]bool {
	all := map[ast.Node]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, is := n.(*ast.CallExpr)
		if !is || !makesErrors.MatchString(types.ExprString(call.Fun)) {
			return true
		}
		for _, arg := range call.Args {
			ast.Inspect(arg, func(x ast.Node) bool {
				all[x] = true
				return true
			})
		}
		return true
	})
	return all
}

// eachLiteral calls f with each text that is written in a source, also in several parts, but for tags and imports.
func eachLiteral(s source, f func(at ast.Expr, text string)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			ast.Inspect(n.Type, func(ast.Node) bool { return false })
			return n.Tag == nil
		case ast.Expr:
			if text, is := literal(n); is {
				f(n, text)
				return false
			}
		}
		return true
	})
}

// literal is the text of a string that is written in the source, also in several parts; not one with parts that are not.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, is := literal(e.X)
		y, both := literal(e.Y)
		return x + y, is && both && e.Op == token.ADD
	}
	return "", false
}
