package requests

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/template"
)

// named are defaults with names of every kind.
func named(t *testing.T) Defaults {
	d := base(t)
	d.Names = &template.Names{Columns: []string{"email", "token"},
		Variables: map[string]string{"tenant": "a b", "host": "x"}}
	return d
}

// Texts with holes are kept as they are written, and what is sent has the holes.
func TestTemplates(t *testing.T) {
	d := named(t)
	d.Header = []proto.Field{{Name: "X-Id", Value: "{{uuid}}"}, {Name: "X-Tenant", Value: "{{tenant}}"}}
	const url = "/u/{{seq}}?n={{int 1 100}}&e=ä"
	all, err := Read("f", strings.NewReader(
		`{"url": "`+url+`", "body": "{\"to\": \"{{email}}\", \"\\{{x}}\": {{seq}}}"}`+"\n"+
			`{"body": {"to": "{{email}}", "n": [1,  2]}, "headers": {"Authorization": "Bearer {{token}}"}}`+
			"\n"+`{"body": [ "{{hex 4}}" ], "headers": ["X-Id: 7"]}`), d)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		`/u/?n=&e=%C3%A4 [X-Id=] [X-Tenant=a b] {"to": "", "{{x}}": } holes 5`,
		`/base [Authorization=Bearer ] [X-Id=] [X-Tenant=a b] {"to": "", "n": [1,  2]} holes 3`,
		`/base [X-Id=7] [X-Tenant=a b] [ "" ] holes 1`,
	} {
		r := all[i]
		got := r.Path
		for _, f := range r.Header {
			got += fmt.Sprintf(" [%s=%s]", f.Name, f.Value)
		}
		got += fmt.Sprintf(" %s holes %d", r.Body, len(r.Holes))
		if got != want {
			t.Errorf("request %d is sent as\n%s, want\n%s", i, got, want)
		}
	}
	if w := all[0].Written(); w.Path != "/u/{{seq}}?n={{int 1 100}}&e=%C3%A4" ||
		string(w.Body) != `{"to": "{{email}}", "\{{x}}": {{seq}}}` || w.Header[0].Value != "{{uuid}}" {
		t.Errorf("it was written as %+v %s", w, w.Body)
	}
	var again loadplan.Request
	b, err := json.Marshal(all[0])
	if err == nil {
		err = json.Unmarshal(b, &again)
	}
	if err != nil || again.Written().Path != all[0].Written().Path || again.Template == nil {
		t.Errorf("stored as %s, %v, it is read as %+v", b, err, again)
	}
	var file strings.Builder
	p := loadplan.Plan{Target: d.URL.Target, Requests: all}
	if err := p.WriteRequests(&file); err != nil {
		t.Fatal(err)
	}
	repeated, err := Read("again", strings.NewReader(file.String()), named(t))
	if err != nil || len(repeated) != 3 || repeated[0].Path != all[0].Path ||
		len(repeated[0].Holes) != len(all[0].Holes) || string(repeated[1].Body) != string(all[1].Body) {
		t.Errorf("written as\n%s it is read as %+v, %v", file.String(), repeated, err)
	}
}

// A request without {{ has no template.
func TestNoTemplate(t *testing.T) {
	all, err := Read("f", strings.NewReader(`{"url": "/}}", "body": "{ {uuid} }"}`), named(t))
	if err != nil || all[0].Template != nil || all[0].Sources != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

// All faults of a line are found, with the column where the hole begins in the file.
func TestTemplateFaults(t *testing.T) {
	d := named(t)
	_, err := Read("f.jsonl", strings.NewReader(strings.Join([]string{
		`{"url": "/{{emial}}", "body": "ä\n\"\u00e4\ud83d\ude00{{nope}} {{int 5}}"}`,
		`{"headers": {"A": "{{x}}", "B": ["1", "\t{{hex}}"]}, "body": {"a": ["{{y}}"]}}`,
		`{"headers": ["C: {{uuid 4}}"]}`,
		`{"url": "{{uuid}}"}`,
		`{"headers": {"Content-Length": "{{int 1 9}}"}}`,
		`{"url": "/{{host}}/{{tenant}}"}`,
	}, "\n")), d)
	wantError(t, err, `
f.jsonl:1:11: {{emial}} is unknown: did you mean email? (to send it as it is, write \{{)
f.jsonl:1:56: {{nope}} is unknown: `+hint+`
f.jsonl:1:65: {{int 5}} is not how int is called: write {{int LOW HIGH}}, as in {{int 1 100}}; LOW is `+
		`not above HIGH, both have 64 bits
f.jsonl:2:20: {{x}} is unknown: `+hint+`
f.jsonl:2:42: {{hex}} is not how hex is called: write {{hex DIGITS}}, as in {{hex 16}}; DIGITS is 1 to 1024
f.jsonl:2:70: {{y}} is unknown: `+hint+`
f.jsonl:3:18: {{uuid 4}} is not how uuid is called: write {{uuid}}
f.jsonl:4:2: "{{uuid}}" is neither a path, which starts with /, nor a URL
f.jsonl:5: header Content-Length: frames the message, so its value is the same in all
f.jsonl:6: path: its text contains a space or a control character, which no path can have; write it `+
		`as %20 or the like`)

	_, err = URLs("urls.txt", strings.NewReader("/ok/{{seq}}\n  /{{no}}/{{int}}\n/{{uuid"), d.URL, d.Names)
	wantError(t, err, `
urls.txt:2:4: {{no}} is unknown: did you mean now? (to send it as it is, write \{{)
urls.txt:2:11: {{int}} is not how int is called: write {{int LOW HIGH}}, as in {{int 1 100}}; LOW is `+
		`not above HIGH, both have 64 bits
urls.txt:3:2: {{ is not closed by }} on its line; write \{{ to send it as it is`)

	_, err = Bodies("b.txt", strings.NewReader("{{seq}}\nid={{sequ}}"), d.Names)
	wantError(t, err, `b.txt:2:4: {{sequ}} is unknown: did you mean seq? (to send it as it is, write \{{)`)
}

const hint = `there are the functions uuid, int, hex, seq, now, json, env and the names email, token, ` +
	`host, tenant (to send it as it is, write \{{)`

// Requests whose URLs have holes share the body that they were given: it may be large, and they many.
func TestTemplatesShareTheirBody(t *testing.T) {
	d := base(t)
	urls, err := URLs("f", strings.NewReader("/a?{{seq}}\n/b?{{seq}}\n"), d.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range [][]byte{[]byte("large"), {}} {
		all, err := Pair(d, urls, [][]byte{body})
		if err != nil || len(all) != 2 || len(all[0].Holes) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		for _, r := range all {
			if r.Body == nil || len(body) > 0 && &r.Body[0] != &body[0] {
				t.Errorf("%s: %q is a copy", r.Path, r.Body)
			}
		}
	}
}
