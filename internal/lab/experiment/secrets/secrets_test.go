package secrets

import (
	"bytes"
	"dyno/internal/engine/template"
	"dyno/internal/lab/experiment"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dyno/internal/redact"
)

const withSecrets = `version: 1
name: x # SECRET-ONE is not to be told
workload:
  auth: digest
  user: ada:SECRET-ELEVEN
  request:
    method: POST
    path: /a?page=2&sig=SECRET-TWO
    headers: {X-Auth: SECRET-ONE, Accept: text/plain, Authorization: 'Bearer {{env "DYNO_T"}}'}
    body: '{"pin": 1234, "user": "{{env "DYNO_T"}}", "password": "SECRET \"THREE"}'
  expect:
    body: ['contains:SECRET-ONE is yours', 'json:$.token==SECRET-SEVEN', 'json:$.page==2']
    header: 'X-Auth-Token: SECRET-EIGHT'
levels: [{connections: 1, proxy: 'http://u:SECRET-TEN@h:3128'}]
variants:
  a: &a
    env: {PASSWORD: SECRET-ONE, GOMAXPROCS: "2", TOKEN: '{{env "DYNO_T" "SECRET-DEFAULT"}}'}
    files: {conf: "requirepass SECRET-FOUR"}
    processes:
      - cmd: [server, --token, SECRET-FIVE, '{{port}}']
        env: {DB_URL: 'db://u:SECRET-SIX@h/x'}
      - {name: second, cmd: 'server --requirepass SECRET-FOUR -p {{env "DYNO_T"}} {{port}}'}
    url: http://127.0.0.1:{{port}}/
  b:
    <<: *a
    request: {body: SECRET-WHOLE}
    expect: {body: 'json:$.a.pin==SECRET-NINE'}
`

func readText(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Read("x.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func marking() redact.Replacer { return redact.Marks(func() []byte { return []byte("of the tests") }) }

// What is stored of an experiment has no secret in it, is an experiment again, and is the same when
// it is stored again.
func TestKeptHasNoSecret(t *testing.T) {
	t.Setenv("DYNO_T", "from the environment")
	e := readText(t, withSecrets)
	k, err := TakeOut(e, marking())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(k.Source), string(k.Plan)} {
		if strings.Contains(text, "SECRET") || strings.Contains(text, "1234,") ||
			strings.Contains(text, "from the environment") {
			t.Errorf("a secret is kept: %s", text)
		}
	}
	for _, want := range []string{"page=2", "text/plain", `Bearer {{env "DYNO_T"}}`,
		`"user": "{{env "DYNO_T"}}"`, `GOMAXPROCS: "2"`, `-p {{env "DYNO_T"}}`, "db://u:(redacted-", "http://u:(redacted-", "json:$.page==2",
		"is yours", "json:$.token==(redacted-"} {
		if !strings.Contains(string(k.Source), want) {
			t.Errorf("%s is gone:\n%s", want, k.Source)
		}
	}
	again, err := TakeOut(readText(t, string(k.Source)), marking())
	if err != nil || string(again.Source) != string(k.Source) || string(again.Plan) != string(k.Plan) {
		t.Errorf("%v\n%s\nand then\n%s", err, k.Source, again.Source)
	}
	var v any
	if err := json.Unmarshal(k.Plan, &v); err != nil {
		t.Error(err)
	}
	open, err := TakeOut(e, nil)
	if err != nil || string(open.Source) != withSecrets {
		t.Errorf("%v %s", err, open.Source)
	}
}

// Without a secret the file is stored byte for byte, and what ships with dyno has none.
func TestKeptWithoutSecrets(t *testing.T) {
	files, err := filepath.Glob("../shipped/*/experiment.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no experiment that ships was found:", err)
	}
	files = append(files, "../starter/starter.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		e := readText(t, string(text))
		k, err := TakeOut(e, marking())
		plan, _ := json.Marshal(e)
		if err != nil || string(k.Source) != string(text) || len(k.Secrets) > 0 {
			t.Errorf("%s: %v, %q", file, err, k.Secrets)
		}
		var a, b any
		json.Unmarshal(plan, &a)
		json.Unmarshal(k.Plan, &b)
		one, _ := json.Marshal(a)
		if other, _ := json.Marshal(b); string(one) != string(other) {
			t.Errorf("%s:\n%s\nis kept as\n%s", file, one, other)
		}
	}
}

// With its secrets given back, an experiment is the one that it was.
func TestFill(t *testing.T) {
	e := readText(t, withSecrets)
	k, err := TakeOut(e, marking())
	if err != nil {
		t.Fatal(err)
	}
	stored := readText(t, string(k.Source))
	values := map[string][]string{}
	for name, value := range map[string]string{"x-auth": "SECRET-ONE", "sig": "SECRET-TWO", "pin": "1234",
		"requirepass": "SECRET-FOUR", "token": "SECRET-FIVE", "body": "SECRET-WHOLE", "x-auth-token": "SECRET-EIGHT"} {
		values[name] = []string{value}
	}
	values["token"] = append(values["token"], "SECRET-DEFAULT", "SECRET-SEVEN")
	values["pin"] = append(values["pin"], "SECRET-NINE")
	_, missing, _, err := FillIn(stored, values, marking())
	if err != nil || len(missing) == 0 || slices.ContainsFunc(missing, func(l Lack) bool {
		return !l.Is("password") || l.Is("token")
	}) {
		t.Errorf("%v, missing %v", err, missing)
	}
	values["password"] = []string{"SECRET-ELEVEN", "SECRET-ONE", "SECRET-SIX", "SECRET-TEN", `SECRET "THREE`}
	filled, missing, others, err := FillIn(stored, values, marking())
	if err != nil || len(missing) > 0 || len(others) > 0 {
		t.Fatalf("%v, missing %v, others %v", err, missing, others)
	}
	a, _ := json.Marshal(e)
	b, _ := json.Marshal(filled)
	if string(a) != string(b) {
		t.Errorf("\n got %s\nwant %s", b, a)
	}
	if string(filled.Source) != string(k.Source) || len(ListMissing(filled)) > 0 {
		t.Errorf("it lacks %v", ListMissing(filled))
	}
	values["x-auth"] = []string{"another"}
	filled, _, others, err = FillIn(stored, values, marking())
	if err != nil || len(others) != 1 || !others[0].Is("X-Auth") {
		t.Fatalf("%v, others %v", err, others)
	}
	if k, _ := TakeOut(filled, marking()); strings.Contains(string(k.Source), marking()("", "SECRET-ONE")+", Accept") {
		t.Error("what is stored has the mark of another value")
	}
}

// A request's path, headers and body, and who sends it, have values of the environment, and nothing else is replaced.
func TestRequestsOfTheEnvironment(t *testing.T) {
	t.Setenv("DYNO_T", "value")
	r := experiment.Workload{User: `ada:{{env "DYNO_T"}}`, Request: experiment.Request{Path: `/{{env "DYNO_T"}}`, Body: `{{name}} {{env "DYNO_NONE" "or this"}} {{ env "DYNO_T" }}`,
		Headers: experiment.Mapping[string]{{Name: "A", Value: `b-{{env "DYNO_T"}}`}}}}
	got, err := r.ExpandVariables(nil)
	if err != nil || got.Request.Path != "/value" || got.Request.Body != "{{name}} or this value" ||
		got.Request.Headers[0].Value != "b-value" || r.Request.Headers[0].Value == "b-value" || got.User != "ada:value" {
		t.Errorf("%v %+v of %+v", err, got, r)
	}
	got, err = r.ExpandVariables(redact.PlainMark)
	if err != nil || got.Request.Path != "/(redacted)" || got.Request.Body != "{{name}} or this (redacted)" {
		t.Errorf("%v %+v", err, got)
	}
	if _, err := (experiment.Workload{User: `{{env "DYNO_NONE"}}`}).ExpandVariables(nil); err == nil ||
		!strings.Contains(err.Error(), "DYNO_NONE is not set") {
		t.Error(err)
	}
	t.Setenv("DYNO_T", `{{x}}\`) // no hole, whatever is around it
	r = experiment.Workload{Request: experiment.Request{Body: `\\{{env "DYNO_T"}}{{seq}} \{{env "DYNO_T"}}`}}
	if got, err = r.ExpandVariables(nil); err != nil {
		t.Error(err)
	}
	text, err := new(template.Names).Parse(got.Request.Body, template.Position{Line: 1, Column: 1})
	if err != nil || text.Literal != `\\{{x}}\ {{env "DYNO_T"}}` || len(text.Holes) != 1 || text.Holes[0].At != 8 {
		t.Errorf("%v: %s is %+v", err, got.Request.Body, text)
	}
	const file = "version: 1\nname: x\nworkload: {request: {body: '%'}}\n" +
		"variants: {a: {url: 'http://127.0.0.1:1/'}}\n"
	for _, bad := range []string{`{{env X}}`, `{{env}}`, `{{env "A" "B" "C"}}`} {
		_, err := experiment.Read("x.yaml", strings.NewReader(strings.Replace(file, "%", bad, 1)))
		if err == nil || !strings.Contains(err.Error(), "workload.request.body: "+bad+" names no variable") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	e := readText(t, strings.Replace(file, "%", `{{env "DYNO_NONE"}}`, 1))
	if all := experiment.Missing(experiment.Expand(e)[0]); len(all) != 1 || !strings.Contains(all[0], "DYNO_NONE") {
		t.Errorf("%q", all)
	}
}

// Who sends requests is stored without secrets, and what is stored can be read again, wherever a variable stands.
func TestStoredUsers(t *testing.T) {
	for user, want := range map[string]string{
		"ada:SECRET":                      "ada:(redacted)",
		`{{env "DYNO_T"}}`:                `{{env "DYNO_T"}}`,
		`{{env "DYNO_T"}}:{{env "T"}}`:    `{{env "DYNO_T"}}:{{env "T"}}`,
		`{{env "DYNO_T"}}:SECRET`:         "(redacted)",
		`{{env "DYNO_T" "ada:SECRET"}}`:   `{{env "DYNO_T" "(redacted)"}}`,
		`ada:{{env "DYNO_T"}}`:            `ada:{{env "DYNO_T"}}`,
		`team-{{env "DYNO_T"}}:SECRET`:    "(redacted)",
		`{{env "DYNO_T" "SECRET"}}SECRET`: "(redacted)",
	} {
		k, err := TakeOut(readText(t, "version: 1\nname: x\nworkload: {auth: digest, user: '"+user+"'}\n"+
			"variants: {a: {url: 'http://127.0.0.1:1/'}}\n"), redact.PlainMark)
		if err != nil {
			t.Fatal(err)
		}
		again, err := experiment.ReadBegun("x.yaml", bytes.NewReader(k.Source))
		if err != nil || again.Workload.User != want {
			t.Errorf("%s: %v\n%s", user, err, k.Source)
		}
	}
}

// Of two secrets of which one begins as the other, nothing of either is left.
func TestSecretsThatBeginAlike(t *testing.T) {
	for range 20 { // what replaces them was once taken from a map
		k, err := TakeOut(readText(t, `version: 1
name: alike
workload: {request: {path: /, headers: {X-One: password12, X-Two: password1234}}}
variants:
  a: {url: 'http://127.0.0.1:1/', description: 'was password1234, is password12'}
`), marking())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(k.Source), ")34") || strings.Contains(string(k.Source), "password12") {
			t.Fatalf("%s", k.Source)
		}
	}
}

// A comment has neither a secret of the file or of the environment, nor one that it names itself.
func TestCommentsHaveNoSecrets(t *testing.T) {
	t.Setenv("DYNO_T", "Zq6Env")
	const text = `# before: hunter2 is what it was, and Zq6Env
version: 1
name: comments # password: Zq2One
workload:
  # - cmd: [server, --token=Zq2Two, "api_key": "Zq2 Three"]
  request: {path: /, headers: {X-Auth: hunter2, X-Env: '{{env "DYNO_T"}}'}} # not hunter2
variants:
  # see http://u:Zq2'Four@h/ for the key: it is in /etc/x.pem
  a:
    env:
      DSN: user:Zq2Five@tcp(127.0.0.1:1)/x
      PLAIN: 'host=x password={{env "DYNO_T"}} port=1'
      OTHER: 'postgres://u:{{env "DYNO_T"}}@h/x'
      DATABASE_URL: "postgres://u:Zq2'Six@127.0.0.1:1/db"
    processes: [{cmd: 'server {{port}}'}]
    url: 'http://127.0.0.1:{{port}}/' # token=Zq2Seven
# the last: hunter2
`
	e := readText(t, text)
	k, err := TakeOut(e, marking())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"Zq", "hunter2", "Three"} {
		if strings.Contains(string(k.Source), secret) || strings.Contains(string(k.Plan), secret) {
			t.Errorf("%s is in\n%s", secret, k.Source)
		}
	}
	for _, want := range []string{"# before: (redacted-", `password={{env "DYNO_T"}} port`,
		`postgres://u:{{env "DYNO_T"}}@h/x`, "/etc/x.pem", "# - cmd: [server, --token=(redacted-"} {
		if !strings.Contains(string(k.Source), want) {
			t.Errorf("%s is gone:\n%s", want, k.Source)
		}
	}
	stored := readText(t, string(k.Source))
	again, err := TakeOut(stored, marking())
	if err != nil || string(again.Source) != string(k.Source) {
		t.Errorf("%v\n%s\nand then\n%s", err, k.Source, again.Source)
	}
	for _, l := range ListMissing(stored) {
		if !l.Is("X-Auth") && !l.Is("password") {
			t.Errorf("%s is wanted, which is in a comment", l.Name)
		}
	}
	filled, missing, others, err := FillIn(stored, map[string][]string{"x-auth": {"hunter2"},
		"password": {"Zq2Five", "Zq2'Six"}}, marking())
	if err != nil || len(missing)+len(others) > 0 || len(ListMissing(filled)) > 0 {
		t.Errorf("%v, missing %v, others %v", err, missing, others)
	}
}

// Where a load goes stays where it stands, though a header says the same.
func TestDestinationsAreKept(t *testing.T) {
	k, err := TakeOut(readText(t, `version: 1
name: kept # on 127.0.0.1
workload: {request: {path: /, headers: {X-Forwarded-For: 127.0.0.1, X-Other: 10.11.12.13}}}
variants:
  a:
    description: not on 10.11.12.13
    processes: [{cmd: 'server --listen 127.0.0.1:{{port}}'}]
    url: 'http://127.0.0.1:{{port}}/'
`), marking())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# on 127.0.0.1", "--listen 127.0.0.1:{{port}}", "http://127.0.0.1:",
		"X-Forwarded-For: " + marking()("", "127.0.0.1"), "not on " + marking()("", "10.11.12.13")} {
		if !strings.Contains(string(k.Source), want) {
			t.Errorf("%s is not in\n%s", want, k.Source)
		}
	}
}

// A password in the quotes of a connection string is given back as it is.
func TestQuotedPasswords(t *testing.T) {
	const text = `version: 1
name: quoted
workload: {request: {path: /}}
variants:
  a:
    env: {CONN: "host=h password='it\\'s mine' port=1", OTHER: "Server=h;Pwd='it''s yours; x';Port=1"}
    processes: [{cmd: 'server {{port}}'}]
    url: 'http://127.0.0.1:{{port}}/'
`
	k, err := TakeOut(readText(t, text), marking())
	if err != nil || strings.Contains(string(k.Source), "mine") || strings.Contains(string(k.Source), "yours") {
		t.Fatalf("%v: %s", err, k.Source)
	}
	filled, missing, others, err := FillIn(readText(t, string(k.Source)), map[string][]string{
		"password": {"it's mine"}, "pwd": {"it's yours; x"}}, marking())
	if err != nil || len(missing)+len(others) > 0 {
		t.Fatalf("%v, missing %v, others %v", err, missing, others)
	}
	env := filled.Variants[0].Value.Env
	if env[0].Value != `host=h password='it\'s mine' port=1` || env[1].Value != "Server=h;Pwd='it''s yours; x';Port=1" {
		t.Errorf("%q", env)
	}
}

// A secret that comes from the environment is kept as what it is, but for what the file has in its
// place; and that is only wanted back where the variable is not set.
func TestDefaultsOfTheEnvironment(t *testing.T) {
	const text = `version: 1
name: defaults
workload:
  request:
    path: /
    headers: {X-Auth: '{{env "DYNO_T" "SECRET-ONE"}}', Cookie: 'sid={{env "DYNO_T"}}; b={{env "DYNO_U" ""}}'}
    body: '{"token": "{{env "DYNO_T" "SECRET-TWO"}}", "pin": "literal"}'
variants:
  a: {processes: [{cmd: 'server --token {{env "DYNO_T" "SECRET-ONE"}} {{port}}'}], url: 'http://127.0.0.1:{{port}}/'}
`
	k, err := TakeOut(readText(t, text), marking())
	if err != nil {
		t.Fatal(err)
	}
	m := marking()
	want := strings.NewReplacer("SECRET-ONE", m("", "SECRET-ONE"), "SECRET-TWO", m("", "SECRET-TWO"),
		"literal", m("", "literal")).Replace(text)
	lines := func(s string) []string { return strings.Fields(strings.NewReplacer("'", "", "\n", " ").Replace(s)) }
	if got := string(k.Source); strings.Contains(got, "SECRET") ||
		len(lines(got)) != len(lines(want)) || strings.Count(got, "{{env") != 5 {
		t.Errorf("kept is\n%s\nand not\n%s", got, want)
	}
	stored := readText(t, string(k.Source))
	wanted := func() (names []string) {
		for _, l := range ListMissing(stored) {
			if !l.Spare {
				names = append(names, l.Name)
			}
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	if got := wanted(); !slices.Equal(got, []string{"X-Auth", "pin", "token"}) {
		t.Errorf("without the variable it lacks %q", got)
	}
	whole := map[string][]string{"x-auth": {"SECRET-ONE"}, "token": {"SECRET-ONE", "SECRET-TWO"},
		"pin": {"literal"}}
	filled, missing, others, err := FillIn(stored, whole, marking())
	if err != nil || len(missing)+len(others) > 0 || filled.Workload.Request.Body !=
		`{"token": "{{env "DYNO_T" "SECRET-TWO"}}", "pin": "literal"}` {
		t.Errorf("%v, missing %v, others %v: %+v", err, missing, others, filled.Workload.Request)
	}
	t.Setenv("DYNO_T", "is set")
	if got := wanted(); !slices.Equal(got, []string{"pin"}) {
		t.Errorf("with the variable it lacks %q", got)
	}
	filled, missing, others, err = FillIn(stored, map[string][]string{"pin": {"literal"}}, marking())
	if err != nil || len(missing)+len(others) > 0 || string(filled.Source) != string(k.Source) {
		t.Errorf("%v, missing %v, others %v", err, missing, others)
	}
}

// A file may have any character that YAML can write, and is kept with it.
func TestControlCharactersAreKept(t *testing.T) {
	const text = `version: 1
name: controls
workload: {request: {path: /, headers: {X-Auth: SECRET-ONE}, body: "a\x7f\x80\x85\u009f\ufeff\u2028b"}}
variants:
  a: {url: 'http://127.0.0.1:1/', description: "\x80 and \x9f"}
`
	e := readText(t, text)
	k, err := TakeOut(e, marking())
	if err != nil {
		t.Fatal(err)
	}
	filled, missing, _, err := FillIn(readText(t, string(k.Source)), map[string][]string{
		"x-auth": {"SECRET-ONE"}, "body": {e.Workload.Request.Body}}, marking())
	if err != nil || len(missing) > 0 || filled.Workload.Request.Body != e.Workload.Request.Body ||
		filled.Variants[0].Value.Description != e.Variants[0].Value.Description {
		t.Errorf("%v, missing %v: %q", err, missing, filled.Workload.Request.Body)
	}
}
