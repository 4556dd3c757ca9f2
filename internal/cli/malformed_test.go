package cli

import (
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// What is wrong with templates, data and checks is said with its place, all at once, and before
// anything is sent.
func TestMalformedValues(t *testing.T) {
	inFolder(t, map[string]string{
		"ok.csv":       "email,token\na,b\nc,d\n",
		"noheader.csv": "anna,x\nbert,y\n",
		"short.csv":    "email,token\na\nb,c,d\n",
		"bom.csv":      "\ufeffemail\r\na\r\n",
		"open.csv":     "email,token\na,\"b\nc,d\n",
		"bare.csv":     "email\na\"b\n",
		"function.csv": "uuid,email\na,b\n",
		"twice.csv":    "email,email\na,b\n",
		"noname.csv":   "email,\na,b\n",
		"braces.csv":   "e}}m\na\n",
		"semi.csv":     "email;token\na;b\n",
		"empty.csv":    "",
		"norow.csv":    "email\n",
		"latin.csv":    "email\n\xe4\n",
		"utf16.csv":    "\xff\xfee\x00",
		"rows.tsv":     "email\na\n",
		"mac.csv":      "email\ra\rb\r",
		"binary.csv":   "PK\x03\x04\x00\x00",
		"timeout":      `{"url": "/a", "timeout": "1s"}` + "\n" + `{"url": "/b"}`,
		"bad.jsonl":    "{\"a\": 1}\n{\"b\": 1}\n[1]\n{\"a\": 1\n{\"a\": 1, \"a\": 2}\n",
		"none.jsonl":   "\n",
		"text.jsonl":   "{\"a\": x}\n",
		"body.json":    "{\"a\": {{seq}},\n \"b\": {{nope}}}",
		"wrong.json":   "{\"a\": {{seq}},\n \"b\": }",
		"header":       "X: 1\nno header\nY: {{nope}}\n",
		"requests":     `{"url": "/{{nope}}", "expect_body": "contains:a"}` + "\n" + `{"body": ["{{hex 0}}"]}`,
		"checks":       `{"expect_body": "is:a"}` + "\n" + `{"expect_header": ["a b"]}` + "\n" + `{"expect_body": 7}`,
		"urls":         "/{{int 1}}\n/a b\n",
		"bodies":       "{{uuid\n",
		"variables":    "a=1\nb=2\n",
	})
	t.Setenv("GEHEIM", "geheim\n1 2")
	served := new(atomic.Int64)
	server := httptest.NewServer(answer(served))
	defer server.Close()
	unknown := func(name string) string {
		return "{{" + name + "}} is unknown: there are the functions uuid, int, hex, seq, now, json, env; " +
			`--data FILE and --variable NAME=VALUE add names (to send it as it is, write \{{)`
	}
	for _, test := range []struct{ args, path, want string }{
		{"-H|A: {{nope}}", "/", "--header A:1:4: " + unknown("nope")},
		{"-b|x{{nope}}", "/", "--body:1:2: " + unknown("nope")},
		{"-b|{{}}", "/", `--body:1:1: {{}} names nothing; write \{{ to send it as it is`},
		{"-b|a\n {{uuid", "/", `--body:2:2: {{ is not closed by }} on its line; write \{{ to send it as it is`},
		{"-b|{{int 9 1}}", "/", "--body:1:1: {{int 9 1}} is not how int is called: write {{int LOW HIGH}}, as " +
			"in {{int 1 100}}; LOW is not above HIGH, both have 64 bits"},
		{"-b|{{hex}}", "/", "--body:1:1: {{hex}} is not how hex is called: write {{hex DIGITS}}, as in " +
			"{{hex 16}}; DIGITS is 1 to 1024"},
		{"-b|{{now 1}}", "/", "--body:1:1: {{now 1}} is not how now is called: write {{now}}"},
		{"-b|{{env HOME}}", "/", `--body:1:1: write {{env "NAME"}}, or {{env "NAME" "DEFAULT"}}`},
		{`-b|{{env "DYNO_NONE"}}`, "/", "--body:1:1: the environment has no DYNO_NONE; set it, or write " +
			`{{env "DYNO_NONE" "DEFAULT"}}`},
		{"-b|{{randInt}}", "/", `--body:1:1: {{randInt}} is unknown: did you mean int? (to send it as it is, write \{{)`},
		{"-H|Content-Length: {{seq}}", "/", "header Content-Length: frames the message, so its value is the " +
			"same in all"},
		{"--variable|x", "/", `--variable: "x" is not a variable; write NAME=VALUE`},
		{"--variable|seq=1", "/", "--variable: \"seq\" is the name of a function; choose another name"},
		{"--variable|a=1|--variable|a=2", "/", "--variable: a is given twice"},
		{"--variable|email=1|--data|ok.csv", "/", "--variable: the data has a column \"email\", too; choose " +
			"another name for the variable"},
		{"--variable|v=a\nb|-H|X: {{v}}", "/", `header X: its value contains a control character, which no header can have`},
		{"-H|Authorization: Bearer geheim\nx", "/", "--header: header Authorization: its value contains a control character"},
		{"-H|Authorization Bearer geheim", "/", `--header: "Authorization …" is not a header; write 'Name: value'`},
		{"-H|X-Api-Key=geheim", "/", `--header: "X-Api-Key …" is not a header; write 'Name: value'`},
		{"-H|geheim", "/", `--header: is not a header; write 'Name: value'`},
		{"-H|Cookie: {{env \"GEHEIM\"}}\n", "/", "--header: header Cookie: its value contains a control character"},
		{"-H|Cookie: {{env \"GEHEIM\"}}", "/", "header Cookie: its value contains a control character, which no header can have"},
		{"-c|1", "/{{env \"GEHEIM\"}}", "path: its text contains a space or a control character, which no path can have; write it as %20 or the like"},
		{"--data|gone.csv", "/", "--data: gone.csv: no such file or directory"},
		{"--data|noheader.csv|-b|{{password}}", "/", "--body:1:1: {{password}} is unknown: there are the functions uuid, int, " +
			"hex, seq, now, json, env and the names anna, x; the first line of noheader.csv has the names: if it is a row, " +
			`write the names above it (to send it as it is, write \{{)`},
		{"--data|short.csv", "/", "short.csv:2:1: the row has 1 value, and there are 2 columns (email, token)\n" +
			"dyno: short.csv:3:5: the row has 3 values, and there are 2 columns (email, token)"},
		{"--data|open.csv", "/", `open.csv:2:3: the quote never closes; a quote in a value is doubled, as in ` +
			`"say ""hi"""`},
		{"--data|bare.csv", "/", `bare.csv:2:2: a quote stands in a value that does not begin with one; write ` +
			`"say ""hi"""`},
		{"--data|function.csv", "/", "function.csv:1:1: the column \"uuid\" has the name of a function; rename it"},
		{"--data|twice.csv", "/", "twice.csv:1:7: column email is there twice"},
		{"--data|noname.csv", "/", "noname.csv:1:7: column 2 has no name"},
		{"--data|braces.csv", "/", `braces.csv:1:1: column "e}}m" has braces, so no template can name it; rename it`},
		{"--data|semi.csv", "/", "semi.csv:1:1: the columns are not separated by commas; save the file with commas"},
		{"--data|empty.csv", "/", "empty.csv: is empty; its first row has the names of the columns"},
		{"--data|norow.csv", "/", "norow.csv: has no row below the names of the columns"},
		{"--data|latin.csv", "/", "latin.csv:2:1: is not UTF-8; convert the file, as with iconv -t utf-8"},
		{"--data|utf16.csv", "/", "utf16.csv:1:1: is UTF-16; save it as UTF-8"},
		{"--data|mac.csv", "/", "mac.csv:1:6: CR alone ends its lines; save it with LF or CR LF"},
		{"--data|binary.csv", "/", "binary.csv: is a binary file, and rows are text; export them as CSV or as JSON lines"},
		{"--data|.", "/", "--data: . is a folder; give a file of rows"},
		{"--requests-file|timeout|--pipeline|2", "/", "--pipeline: a request with a timeout of its own ends its " +
			"connection and with it those behind it; leave one of the two out, or use --http 2"},
		{"--data|rows.tsv", "/", "rows.tsv: ends neither in .csv nor in .jsonl, so its format is unknown; " +
			"export it as CSV or as JSON lines"},
		{"--data|bad.jsonl", "/", `bad.jsonl:2:2: key "b" is not in the first line, which has a` + "\n" +
			`dyno: bad.jsonl:2:1: key "a" is missing, and the first line has it` + "\n" +
			`dyno: bad.jsonl:3:1: is no JSON object, as {"email": "a@example.org"}` + "\n" +
			"dyno: bad.jsonl:4:8: the line ends within the object\n" +
			`dyno: bad.jsonl:5:10: key "a" is there twice`},
		{"--data|none.jsonl", "/", `none.jsonl: is empty; write an object a line, as in {"email": "a@example.org"}`},
		{"--data|text.jsonl", "/", "text.jsonl:1:7: is no JSON from here on"},
		{"--data|ok.csv|--data-order|any", "/", `--data-order: "any" is not in-order, random, once or per-user`},
		{"--data-order|once", "/", "--data-order: says which row a request has; add --data FILE"},
		{"--data|ok.csv|--data-order|once|-n|3", "/", "--requests: 3 requests cannot have each row once: " +
			"ok.csv has 2"},
		{"--users|0", "/", `--users: "0" is below 1`},
		{"--json-body|body.json", "/", "body.json:2:7: " + unknown("nope")},
		{"--json-body|wrong.json", "/", "wrong.json:2:7: is no JSON: invalid character '}' looking for beginning " +
			"of value"},
		{"-H|@header", "/", `--header: header:2:1: "no …" is not a header; write 'Name: value'` +
			"\ndyno: header:3:4: " + unknown("nope")},
		{"--requests-file|requests", "/", "requests:1:11: " + unknown("nope") + "\n" +
			"dyno: requests:2:12: {{hex 0}} is not how hex is called: write {{hex DIGITS}}, as in {{hex 16}}; " +
			"DIGITS is 1 to 1024"},
		{"--requests-file|checks", "/", `checks:1:2: expect_body: "is" is not contains, regex, sha256 or json; contains:TEXT looks for any text` +
			"\n" + `dyno: checks:2:2: expect_header: "a b" is not 'Name: value' or 'Name'` +
			"\ndyno: checks:3:2: expect_body is a number; a string is wanted"},
		{"--urls|urls|--bodies|bodies", "/", "urls:1:2: {{int 1}} is not how int is called: write {{int LOW " +
			"HIGH}}, as in {{int 1 100}}; LOW is not above HIGH, both have 64 bits\n" +
			`dyno: urls:2: "/a b" has a space; write %20` + "\n" +
			`dyno: bodies:1:1: {{ is not closed by }} on its line; write \{{ to send it as it is`},
		{"--expect-body|regex:(", "/", "--expect-body: regex:(: error parsing regexp: missing closing ): `(`"},
		{"--expect-body|sha256:1", "/", "--expect-body: sha256:1 is not 64 hexadecimal digits, as sha256sum prints them"},
		{"--expect-body|contains:{{x}}", "/", "--expect-body: a check is the same for all responses, and has no " +
			"{{holes}}; two braces are regex:[{]{"},
		{"--expect-header|a b", "/", `--expect-header: "a b" is not 'Name: value' or 'Name'`},
		{"-u|me", "/", "--user: has no colon; write USER:PASSWORD, and USER: without a password"},
		{"-u|me:{{pw}}", "/", "--user: is encoded as a whole, so that it can have no {{holes}}; write what the " +
			"server gets, as -H 'Authorization: Basic {{credentials}}'"},
		{"-u|me:x|-H|authorization: y", "/", "--user and --header Authorization: both say who asks; give one of them"},
		{"--form|a", "/", `--form: "a" is not a field; write NAME=VALUE, or NAME=@FILE`},
		{"--form|a=1|-b|x", "/", "--body and --form: both say what to send; give one of them"},
		{`-b|{{env "A}} {{seq}}`, "/", `--body:1:1: a quote in {{env "A}} is not closed; write {{env "NAME"}}`},
		{"--data|ok.csv", "/", "--data: no request uses a column of ok.csv; write {{email}}, {{token}} where a value is to stand"},
		{"--data|ok.csv|-H|X: ${token}|-b|{{email}}", "/", "--data: column token: ${token} would be sent as it is; write {{token}}"},
		{"--data|ok.csv|-b|%(token)s {email}", "/", "--data: column email: {email} would be sent as it is; write {{email}}\n" +
			"dyno: --data: column token: %(token)s would be sent as it is; write {{token}}"},
		{"--data|ok.csv", "/a?b={token}", "--data: column token: {token} would be sent as it is; write {{token}}"},
		{"--variable|a=1|-b|b", "/", "--variable: a: no request uses it; write {{a}} where it is to stand, or leave it out"},
		{"--variables-file|variables|-b|${a}", "/", "--variable: a: ${a} would be sent as it is; write {{a}}"},
		{"-b|a|-b|b|-u|a:b|--user|a:c|--seed|1|--seed|2|--expect|200|--expect|200", "/", "--body: is given twice; give one of them\n" +
			"dyno: --user: is given twice; give one of them\n" +
			`dyno: --seed: is given twice, as "1" and "2"; give one of them` + "\n" +
			"dyno: --seed: only random arrivals and values are drawn from one; add --arrival poisson, or {{uuid}} or the like"},
		// More than one at once, of all kinds, and no fault that follows from another.
		{"--data|function.csv|--variable|x|-H|A: {{email}} {{int 5}}|-b|{{other}}|--users|4|--seed|7", "/",
			`--variable: "x" is not a variable; write NAME=VALUE` + "\n" +
				"dyno: function.csv:1:1: the column \"uuid\" has the name of a function; rename it\n" +
				"dyno: --header A:1:14: {{int 5}} is not how int is called: write {{int LOW HIGH}}, as in " +
				"{{int 1 100}}; LOW is not above HIGH, both have 64 bits"},
	} {
		code, said := runHereAs(t, server.URL+test.path, strings.Split(test.args, "|")...)
		want := "dyno: " + test.want + "\nsee 'dyno help run'\n"
		if code != exitUsage || said != want {
			t.Errorf("%s: code %d\n%swant\n%s", test.args, code, said, want)
		}
	}
	if n := served.Load(); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
	code, said := runHereAs(t, server.URL+"/?e={{email}}", "-n", "1", "-c", "1", "--data", "bom.csv")
	if code != exitOK || served.Load() != 1 {
		t.Errorf("a byte order mark and CRLF: code %d %s", code, said)
	}
}
