package serve

import (
	"testing"

	"dyno/internal/view/answer"
)

// What the page advises names fields by their labels, and leaves what is no field's flag, or a
// server's text, as it is.
func TestFormWords(t *testing.T) {
	s := &Server{Config: Config{Form: []Group{{Fields: []Field{
		{Name: "connections", Short: "c", Hint: Hint{Label: "Connections"}},
		{Name: "rate", Short: "R", Hint: Hint{Label: "Requests/s"}},
		{Name: "threads", Short: "t"}, {Name: "requests", Short: "n"}, {Name: "warmup"}, {Name: "cpus"}, {Name: "connect-rate"}}}}}}
	for text, want := range map[string]string{
		"lower -R, or give more -c":          "lower “Requests/s”, or give more “Connections”",
		"-R -c --rate":                       "“Requests/s” “Connections” “Requests/s”",
		"give more connections (-c)":         "give more connections",
		"add threads (-t) where there are":   "add threads where there are",
		"give it CPUs of its own (--cpus)":   "give it CPUs of its own (“cpus”)",
		"or give --connect-rate":             "or give “connect-rate”",
		"a load with --warmup":               "a load with “warmup”",
		"raise the limit (ulimit -n), or -n": "raise the limit (ulimit -n), or “requests”",
		"a co-located -x --allow-target, −5": "a co-located -x --allow-target, −5",
		"":                                   "",
	} {
		if got := labelled(text, labelsOf(s.Form)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	a := answer.Answer{Sentence: "503: use -c", BoxText: "lower -c", Next: answer.Step{Says: "give -t", Command: "dyno run -t 2"},
		Cautions: []answer.Caution{{Says: "lower -c", Remedy: "lower -R", Reasons: []string{"503: use -c"}}}}
	got := s.inFormWords(a)
	if got.Sentence != a.Sentence || got.BoxText != "lower “Connections”" || got.BoxText != got.Cautions[0].Says ||
		got.Next.Says != "give “threads”" || got.Next.Command != a.Next.Command ||
		got.Cautions[0].Remedy != "lower “Requests/s”" || got.Cautions[0].Reasons[0] != "503: use -c" {
		t.Errorf("%+v", got)
	}
	if a.Cautions[0].Says != "lower -c" {
		t.Error("the answer itself was changed")
	}
}
