package redact

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// keyed is a Replacer with a key of the tests' own.
func keyed() Replacer { return Marks(func() []byte { return []byte("a key of the tests") }) }

func TestSecretNames(t *testing.T) {
	for _, name := range strings.Fields(`password passwd pwd PASSWORD userPassword user_password
		password2 dbpassword PGPASSWORD MYSQL_PWD token X-Auth-Token authToken AUTHTOKEN access.token key
		api_key apiKey APIKey APIKEY X-API-Key secret clientSecret SECRET_KEY session sessionid
		PHPSESSID JSESSIONID sid auth Authorization X-Auth sig signature X-Amz-Signature credential
		AWS_SECRET_ACCESS_KEY cookie Set-Cookie csrf_token jwt passphrase private_key pw db_pw verification_code
		tokens user_tokens
		SAMLResponse client_assertion pincode pin_code jsessionid otp mfa_code code_verifier passkey`) {
		if !Secret(name) {
			t.Errorf("%s is no secret", name)
		}
	}
	for _, name := range strings.Fields(`keyword keywords monkey turkey author authors authority design
		designer signal assign signup tokenizer max_tokens token_type key_name keyspace keyboard hockey
		passenger bypass compass GOMAXPROCS GOGC PORT HOST user username id page query secretary
		PASSWORD_FILE sessions_max session_timeout public_key AUTH_MODE - 42 key-prefix key-minimum
		code country_code zipCode statusCode code_page postcode errorcode key-maximum key-pattern key-stddev key-median token_exp
		completion_tokens promptTokens usage.input_tokens cache_read_input_tokens`) {
		if Secret(name) {
			t.Errorf("%s is a secret", name)
		}
	}
	if Secret("") {
		t.Error("no name is a secret")
	}
}

// Two values can be told apart, one can be told to be the same, and none can be guessed without
// the key. What has been replaced stays as it is.
func TestMarks(t *testing.T) {
	r, other := keyed(), Marks(func() []byte { return []byte("another key") })
	a, b := r("k", "one"), r("k", "two")
	if a == b || a != r("other name", "one") || !IsMark(a) || !HasMark("Bearer "+a) {
		t.Errorf("%s %s", a, b)
	}
	if other("k", "one") == a {
		t.Error("the key makes no difference")
	}
	if r("k", a) != a || r("k", Plain) != Plain || r("k", "") != "" || PlainMark("k", "") != "" {
		t.Error("a mark is marked again, or nothing is")
	}
	for _, s := range []string{"(redacted", "(redacted-12)", "x(redacted-12345678)",
		"(redacted-1234567g)", "redacted"} {
		if IsMark(s) {
			t.Errorf("%q is a mark", s)
		}
	}
	var none Replacer
	if none.Header("Cookie", "x") != "x" || none.URL("http://a:b@c/?key=1") != "http://a:b@c/?key=1" ||
		none.Param("X", "x") != "x" || none.Variable("KEY", "x") != "x" ||
		string(none.Body("", []byte("x"))) != "x" || none.Words([]string{"--key", "x"})[1] != "x" {
		t.Error("without a Replacer something is replaced")
	}
}

func TestHeadersAndParameters(t *testing.T) {
	r := Replacer(PlainMark)
	for name, kept := range map[string]bool{"Accept": true, "accept-language": true, "Host": true,
		"Content-Type": true, "If-None-Match": true, "User-Agent": true, "Range": true,
		"Cookie": false, "Authorization": false, "X-Auth": false, "X-Tenant": false, "Referer": false,
		"Acceptance": false} {
		if got := r.Header(name, "value"); (got == "value") != kept {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, want := range map[string]string{"SCRIPT_FILENAME": "v?key=1", "HTTP_ACCEPT": "v?key=1",
		"SERVER_NAME": "v?key=1", "REQUEST_URI": "v?key=(redacted)", "HTTP_X_AUTH": Plain,
		"PHP_VALUE": Plain} {
		if got := r.Param(name, "v?key=1"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := r.Param("QUERY_STRING", "a=1&token=2"); got != "a=1&token=(redacted)" {
		t.Error(got)
	}
	if got := r.Route("GET /x?sig=1&y=2"); got != "GET /x?sig=(redacted)&y=2" {
		t.Error(got)
	}
	if got := r.Route("the front page"); got != "the front page" {
		t.Error(got)
	}
}

func TestURLs(t *testing.T) {
	for in, want := range map[string]string{
		"/plain?page=2&keyword=x":         "/plain?page=2&keyword=x",
		"/?api_key=abc&a=b&X-Token=1%202": "/?api_key=(redacted)&a=b&X-Token=(redacted)",
		"/?a&key&b=":                      "/?a&key&b=",
		"/?access%5Ftoken=abc":            "/?access%5Ftoken=(redacted)",
		"http://me:pw@h:80/x?a=1":         "http://me:(redacted)@h:80/x?a=1",
		"http://me:p@w@h/":                "http://me:(redacted)@h/",
		"http://ghp_abc@h/x@y":            "http://(redacted)@h/x@y",
		"http://h/x@y?to=http://a:b@c/":   "http://h/x@y?to=http://a:(redacted)@c/",
		"http+unix:///run/x.sock:/?sig=1": "http+unix:///run/x.sock:/?sig=(redacted)",
		"http://h/#access_token=abc&x=1":  "http://h/#access_token=(redacted)&x=1",
	} {
		if got := Replacer(PlainMark).URL(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	text := "postgres://u:pw@db/x and http://h/?key=1"
	if got := Replacer(PlainMark).Text(text); got !=
		"postgres://u:(redacted)@db/x and http://h/?key=(redacted)" {
		t.Error(got)
	}
}

func TestBodies(t *testing.T) {
	for _, c := range []struct{ kind, in, want string }{
		{"", `{"user": "me", "password":"pw", "n": 1}`, `{"user": "me", "password":"(redacted)", "n": 1}`},
		{"application/json; charset=utf-8", `[{"key" : 5},{"keys":["a", 2, {"x":"y"}]}]`,
			`[{"key" : "(redacted)"},{"keys":["(redacted)", "(redacted)", {"x":"(redacted)"}]}]`},
		{"application/vnd.api+json", `{"token":null,"auth":true,"a":{"secret":"é\u00e9"}}`,
			`{"token":null,"auth":true,"a":{"secret":"(redacted)"}}`},
		{"", "{\"token\":\"a\"}\n{\"token\":\"b\"}\n", "{\"token\":\"(redacted)\"}\n{\"token\":\"(redacted)\"}\n"},
		{"", `{"to":"http://u:p@h/?key=1"}`, `{"to":"http://u:(redacted)@h/?key=(redacted)"}`},
		{"", `{"max_tokens": 100, "keyword": "x"}`, `{"max_tokens": 100, "keyword": "x"}`},
		{"", `{}`, `{}`},
		{"", "user=me&password=p%20w", "user=me&password=(redacted)"},
		{"application/x-www-form-urlencoded", "a=1&a=2", "a=1&a=2"},
		{"", "hello", Plain}, {"", `"hello"`, Plain}, {"", "42", Plain}, {"", "<a/>", Plain},
		{"", `{"a":1} x`, Plain}, {"", `{"a":`, Plain}, {"", `{"a":1}]`, Plain},
		{"text/plain", `{"a":1}`, Plain}, {"application/json", "a=b", Plain},
		{"", "QUJDREVG=", Plain}, {"", "QUJDRA==", Plain}, {"", "\xff\x00", Plain},
		{"", Plain, Plain}, {"", "", ""},
	} {
		if got := string(Replacer(PlainMark).Body(c.kind, []byte(c.in))); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.kind, c.in, got, c.want)
		}
	}
}

// What a variable's value connects to is known, and the secrets in it are taken out.
func TestConnections(t *testing.T) {
	for in, want := range map[string]string{
		"DSN=user:p@ss:x@tcp(db:3306)/x?a=b":    "user:(redacted)@tcp(db:3306)/x?a=b",
		"ANY=user:pw@unix(/run/x.sock)/x":       "user:(redacted)@unix(/run/x.sock)/x",
		"X=postgres://u:p@h/db":                 "postgres://u:(redacted)@h/db",
		"X=postgres://u:p'a\"s<s@h/db":          "postgres://u:(redacted)@h/db",
		"DB_URL=user:pw@h:5432/db":              "user:(redacted)@h:5432/db",
		"CONN=host=h user=u password=pw port=1": "host=h user=u password=(redacted) port=1",
		"CONN=host=h password='p w' port=1":     "host=h password='(redacted)' port=1",
		"X=Server=h;User Id=u;Password=pw;":     "Server=h;User Id=u;Password=(redacted);",
		"JAVA_OPTS=-Xmx1g -Dapi.token=x":        "-Xmx1g -Dapi.token=(redacted)",
		"X=Server=h;Password=p&ssw0rd;":         "Server=h;Password=(redacted);",
		"X=Password=my pass;":                   "Password=(redacted);",
		"X=Password=my pass ; Server = h":       "Password=(redacted) ; Server = h",
		"X=Server=h;Pwd=\"a;''b\"\"c\";Port=1":  "Server=h;Pwd=\"(redacted)\";Port=1",
		"X=Driver={Any; One};Pwd={p;}}w};A=b":   "Driver={Any; One};Pwd=(redacted);A=b",
		"X=Server=h;Pass Phrase=x y;Opt=-k a=b": "Server=h;Pass Phrase=(redacted);Opt=-k a=b",
		"X=jdbc:sqlserver://h:1;user=u;password=p&w;ssl=true": "jdbc:sqlserver://h:1;user=u;" +
			"password=(redacted);ssl=true",
		`X=host=h password='it\'s \\ mine' port=1`: "host=h password='(redacted)' port=1",
		`X=host=h password=it\ is&it's;so port=1`:  "host=h password=(redacted) port=1",
		"X=host=h password=a;b port=5":             "host=h password=(redacted) port=5",
		"X=sh -c 'TOKEN=abc; export PASSWORD=d' x": "sh -c 'TOKEN=(redacted); export PASSWORD=(redacted)' x",
		"X=page=1&token=x&sort=a":                  "page=1&token=(redacted)&sort=a",
		"X=see /x?token=a&sort=b":                  "see /x?token=(redacted)&sort=b",
		`X=host=h password={{env "A B"}} port=1`:   "host=h password=(redacted) port=1",
		`X=Server=h;Password={{env "A;B"}};Port=1`: "Server=h;Password=(redacted);Port=1",
		"X=Password=;Server=h":                     "Password=;Server=h",
		"IMAGE=npm:left-pad@1.0":                   "npm:left-pad@1.0",
		"OPTS=max_tokens=5 sessions=100":           "max_tokens=5 sessions=100",
		"X=see http://h:80, mail:me@x.org":         "see http://h:80, mail:me@x.org",
	} {
		name, value, _ := strings.Cut(in, "=")
		got := Replacer(PlainMark).Variable(name, value)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if again := Replacer(PlainMark).Variable(name, got); again != got {
			t.Errorf("%s, and then %s", got, again)
		}
	}
	text := `{"to":"http://h:80","mail":"me@x.org"} 'http://u:pa"ss@h/x'`
	if got := Replacer(PlainMark).Text(text); got !=
		`{"to":"http://h:80","mail":"me@x.org"} 'http://u:(redacted)@h/x'` {
		t.Error(got)
	}
}

// Of a comment what it calls a secret is taken out, and sentences stay.
func TestComments(t *testing.T) {
	for in, want := range map[string]string{
		"# key: the number of workers":            "# key: the number of workers",
		"# session: one for each client, no more": "# session: one for each client, no more",
		"# pass = those that ended well":          "# pass = those that ended well",
		"# the token: see below\n# and here":      "# the token: see below\n# and here",
		"# password: a,b":                         "# password: (redacted)",
		"# password: a,b;c.d\n# next: line":       "# password: (redacted)\n# next: line",
		"# password: hunter2  \n# pin: 4711,\r\n": "# password: (redacted)  \n# pin: (redacted),\r\n",
		`# "password": "a \"b\", c", "n": 1`:      `# "password": "(redacted)", "n": 1`,
		"# password: 'it''s mine' or so":          "# password: '(redacted)' or so",
		"# it was --token=abc, and works":         "# it was --token=(redacted), and works",
		"# {PASSWORD: x y, PORT: 1} [--key=a,b]":  "# {PASSWORD: (redacted), PORT: 1} [--key=(redacted),b]",
		"# Authorization: Bearer abc.def":         "# Authorization: Bearer (redacted)",
		`# token: {{env "A B"}}`:                  "# token: (redacted)",
		"# auth: on\n# keys: 100\n# key: |":       "# auth: on\n# keys: 100\n# key: |",
		"# see the key: http://u:p@h/":            "# see the key: (redacted)",
		"# key: /etc/x.pem":                       "# key: /etc/x.pem",
		"# password:\n# x":                        "# password:\n# x",
		"# PASSWORD='":                            "# PASSWORD='",
	} {
		got := Replacer(PlainMark).Comment(in)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := Replacer(PlainMark).Comment(got); again != got {
			t.Errorf("%q, and then %q", got, again)
		}
	}
}

// A word of a command may be a variable with settings, in which there are blanks.
func TestSettingsInCommands(t *testing.T) {
	in := []string{"docker", "run", "-e", "CONN=Server=h;Password=my p&ss;", "--conn=User Id=u;Pwd=a b"}
	want := []string{"docker", "run", "-e", "CONN=Server=h;Password=(redacted);", "--conn=User Id=u;Pwd=(redacted)"}
	if got := Replacer(PlainMark).Words(in); !slices.Equal(got, want) {
		t.Errorf("%q, and not %q", got, want)
	}
	k := NewKnown(PlainMark, []string{`it\'s \\ mine`})
	if got := k.Text(`said: it's \ mine!`); got != "said: (redacted)!" {
		t.Errorf("what quoting stands for is left: %s", got)
	}
}

// What cannot be sent is a mark: with its digits wherever it is, and without them as a value.
func TestFirst(t *testing.T) {
	for in, want := range map[string]string{"a (redacted-1a2b3c4d) b": "(redacted-1a2b3c4d)",
		`{"a":"(redacted-n1a2b3c4d)"}`: "(redacted-n1a2b3c4d)", Plain: Plain, "Bearer (redacted)": Plain,
		`{"a": "(redacted)"}`: Plain, "a=1&b=(redacted)": Plain, "/?a=(redacted)&b": Plain,
		"https://(redacted)@h/": Plain, "the word (redacted) is here": "", `{"text":"so (redacted), they say"}`: "",
		"(redacted-1a2b)": "", "(redacted-1a2b3c4d": "", "(redacted)s": ""} {
		if got := FirstMark(in); got != want {
			t.Errorf("%s: %q", in, got)
		}
	}
}

// back gives values back where there are marks.
func back(values ...string) Replacer {
	r := keyed()
	return func(_, mark string) string {
		for _, v := range values {
			if r("", v) == mark {
				return v
			}
		}
		return mark
	}
}

// What was taken out can be put back by the same rules, byte for byte, and what is kept is the
// same when it is looked at again.
func TestThereAndBack(t *testing.T) {
	for _, in := range []string{`{"token": 12345, "b":[1,2]}`, `{"token": "12345","x":  "<&>"}`,
		"user=me&password=p%20w", "plain text", `[{"keys":[1,"1",{"pin":7}]}]`} {
		kept := keyed().Body("", []byte(in))
		if string(kept) == in || string(keyed().Body("", kept)) != string(kept) {
			t.Errorf("%s: %s", in, kept)
		}
		given := back("12345", "p%20w", "plain text", "1", "7").Body("", kept)
		if string(given) != in {
			t.Errorf("%s\nkept %s\nback %s", in, kept, given)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, c := range []struct{ in, want []string }{
		{[]string{"server", "--password", "pw", "--port", "80"},
			[]string{"server", "--password", Plain, "--port", "80"}},
		{[]string{"server", "--password=pw", "-requirepass=x", "--auth", "--tls"},
			[]string{"server", "--password=(redacted)", "-requirepass=(redacted)", "--auth", "--tls"}},
		{[]string{"env", "PASS=123456", "DB_PASSWORD=@dm1n!", "MAX_TOKENS=9", "--requirepass", "4711"},
			[]string{"env", "PASS=(redacted)", "DB_PASSWORD=(redacted)", "MAX_TOKENS=9", "--requirepass", Plain}},
		{[]string{"curl", "--user", "me:123456"}, []string{"curl", "--user", "me:(redacted)"}},
		{[]string{"docker", "--user", "1000:1000"}, []string{"docker", "--user", "1000:1000"}},
		{[]string{"env", "TOKEN=abc", "GOMAXPROCS=2", "PASSWORD_FILE=/x"},
			[]string{"env", "TOKEN=(redacted)", "GOMAXPROCS=2", "PASSWORD_FILE=/x"}},
		{[]string{"wrk", "-H", "X-Tenant: abc", "-H", "Accept: x", "http://u:p@h/?sig=1"},
			[]string{"wrk", "-H", "X-Tenant: (redacted)", "-H", "Accept: x",
				"http://u:(redacted)@h/?sig=(redacted)"}},
		{[]string{"sh", "-c", `PASSWORD='a b' exec server --token "x" -H 'Cookie: a=b; c=d' {{port}}`},
			[]string{"sh", "-c", `PASSWORD='(redacted)' exec server --token "(redacted)" ` +
				`-H 'Cookie: (redacted)' {{port}}`}},
		{[]string{"nginx", "--key", "/etc/x/key.pem", "--key={{here}}/k", "--keys", "100", "--auth=on"},
			[]string{"nginx", "--key", "/etc/x/key.pem", "--key={{here}}/k", "--keys", "100", "--auth=on"}},
		{[]string{"curl", "--user", "me:pw", "--data", "a=1&password=x", "--json", `{"token":"x y"}`},
			[]string{"curl", "--user", "me:(redacted)", "--data", "a=1&password=(redacted)", "--json",
				`{"token":"(redacted)"}`}},
		{[]string{"sh", "-c", `server --token $TOKEN --password "${PASS}" -H "X-Auth: Bearer $T" KEY=$K`},
			[]string{"sh", "-c", `server --token $TOKEN --password "${PASS}" -H "X-Auth: Bearer $T" KEY=$K`}},
		{[]string{"memtier_benchmark", "--key-prefix", "m-", "--key-maximum=100"},
			[]string{"memtier_benchmark", "--key-prefix", "m-", "--key-maximum=100"}},
		{[]string{"env", "A=b", "/bin/bash", "-lc", "memtier_benchmark --user me:$PW"},
			[]string{"env", "A=b", "/bin/bash", "-lc", "memtier_benchmark --user me:$PW"}},
		{[]string{"server", "--password", "$a$b", "--token=${T:-literal}", "--pin", "pa$$"},
			[]string{"server", "--password", Plain, "--token=(redacted)", "--pin", Plain}},
		{[]string{"server", "--password", "$ecret", "--token=${T}", "-H", "X-Auth: $T", "--user", "me:$PW"},
			[]string{"server", "--password", Plain, "--token=(redacted)", "-H", "X-Auth: (redacted)",
				"--user", "me:(redacted)"}},
		{[]string{"env", "PASSWORD=$ecret", "CONN=host=h password=$ecret", "sh", "-c", "T=$T CONN='host=h password=$P' x"},
			[]string{"env", "PASSWORD=(redacted)", "CONN=host=h password=(redacted)", "sh", "-c",
				"T=$T CONN='host=h password=$P' x"}},
		{[]string{"x", "127.0.0.1:80", "localhost:{{port}}", `{"key":"a b"}`, `--ring={{env "R" "a"}}`},
			[]string{"x", "127.0.0.1:80", "localhost:{{port}}", `{"key":"(redacted)"}`,
				`--ring={{env "R" "a"}}`}},
	} {
		got := Replacer(PlainMark).Words(c.in)
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
	}
	for in, want := range map[string]string{
		"server --token $TOKEN -H 'X-Auth: $T'":                "server --token (redacted) -H 'X-Auth: (redacted)'",
		`sh -c 'server --token $TOKEN -H "X-Auth: Bearer $T"'`: `sh -c 'server --token $TOKEN -H "X-Auth: Bearer $T"'`,
		"PASSWORD=$ecret sh":                                   "PASSWORD=(redacted) sh",
	} {
		if got := Replacer(PlainMark).Line(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
	if got := Replacer(PlainMark).Variable("PASSWORD", "$ecret"); got != Plain {
		t.Errorf("no shell reads an environment, and %s is kept", got)
	}
	line := `{{env "NGINX" "nginx"}} -p {{dir}} --token {{env "T"}} --password "x y"`
	var told []string
	Replacer(func(name, value string) string {
		told = append(told, name+"="+value)
		return value
	}).Line(line)
	if got := strings.Join(told, " "); got != `token={{env "T"}} password=x y` {
		t.Error(got)
	}
}

func FuzzBody(f *testing.F) {
	f.Add("", `{"a":{"token":[1,"x",null]}}`)
	f.Add("application/x-www-form-urlencoded", "a=1&password=2")
	f.Fuzz(func(t *testing.T, kind, body string) {
		kept := keyed().Body(kind, []byte(body))
		if again := keyed().Body(kind, kept); string(again) != string(kept) {
			t.Errorf("%q: %q, and then %q", body, kept, again)
		}
		if json.Valid([]byte(body)) && !IsMark(string(kept)) && kind == "" && !json.Valid(kept) {
			t.Errorf("%q: %q", body, kept)
		}
	})
}
