package redact

import "testing"

// A body whose holes stand where JSON has numbers is JSON, and one whose holes are values is a form.
func TestTemplateBodies(t *testing.T) {
	r := Replacer(func(name, value string) string { return "(" + name + ")" })
	for _, c := range []struct{ kind, body, want string }{
		{"", `{"id": {{seq}}, "password": "geheim", "name": "{{name}}"}`,
			`{"id": {{seq}}, "password": "(password)", "name": "{{name}}"}`},
		{"", `{"id": {{seq}}, "pin": {{int 1 9}}, "pw": "{{pw}}"}`, `{"id": {{seq}}, "pin": "(pin)", "pw": "(pw)"}`},
		{"", `{"a": "{{env "HOME"}}", "b": [{{x}}, {{x}}]}`, `{"a": "{{env "HOME"}}", "b": [{{x}}, {{x}}]}`},
		{"application/x-www-form-urlencoded", `a={{uuid}}&password=x`, `a={{uuid}}&password=(password)`},
		{"", `{"a": "\{{b}}", "pin": "\{{pin}}"}`, `{"a": "\{{b}}", "pin": "(pin)"}`},
		{"", `to {{email}}`, "(body)"},
		{"", `{"a": {{b}`, "(body)"},
		{"", `{"a": {{b}}, "c": 27182818280000001}`, "(body)"}, // a number that looks as one of ours
		{"", `{"a": 1}`, `{"a": 1}`}, {"", "", ""},
	} {
		if got := string(r.TemplateBody(c.kind, []byte(c.body))); got != c.want {
			t.Errorf("%s: %s, want %s", c.body, got, c.want)
		}
	}
	keep := r.KeepHoles(nil)
	if got := string(keep.TemplateBody("", []byte(`{"pin": {{pin}}, "pw": "{{pw}}", "key": "a{{b}}"}`))); got !=
		`{"pin": {{pin}}, "pw": "{{pw}}", "key": "(key)"}` {
		t.Error(got)
	}
	if got := Replacer(nil).TemplateBody("", []byte("{{a}}")); string(got) != "{{a}}" {
		t.Errorf("%s", got)
	}
}

// A hole with blanks, quotes and braces is one word, and \{{ begins none.
func TestWordsWithHoles(t *testing.T) {
	r := Replacer(func(name, value string) string { return "(" + name + ")" })
	for text, want := range map[string]string{
		`a --token {{env "A}} B"}}x b`:            "a --token (token) b",
		`a --token \{{x y}} b`:                    "a --token (token) y}} b",
		`a --token "{{env "A B"}}" b`:             `a --token "(token)" b`,
		`password=\{{x y}}`:                       "password=(password) y}}",
		`password="{{env "A" "b c"}} d" user=joe`: `password="(password)" user=joe`,
	} {
		if got := r.Line(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`token: a{{env "A}} B"}}`: "token: (token)", `token: \{{x y}}`: `token: \{{x y}}`,
	} {
		if got := r.Comment(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
