package main

import (
	"fmt"
	"strings"
)

// A content is how the requests of a load differ from one another, or what is looked at in their
// answers.
type content string

const (
	sameContent  content = ""      // all requests are the same, and nobody looks at an answer
	countContent content = "count" // the URL has the request's number
	drawnContent content = "drawn" // the URL has a random number
	rowContent   content = "row"   // URL and a header have values of a row of dataRows
	textContent  content = "text"  // the body must contain contentWord
	jsonContent  content = "json"  // the body must have contentWord at a path
	// stepContent is a step of a session: a value is taken from the body, and two must be there.
	stepContent content = "step"
	// pairContent is that step, and a second one whose URL has the value that was taken.
	pairContent content = "pair"

	requestContent  content = "request"  // a script in Lua makes each request
	responseContent content = "response" // a script in Lua looks at each response

	signedContent  content = "signed"  // each request is signed for AWS
	digestContent  content = "digest"  // each answers nginx's challenge of Digest
	chunkedContent content = "chunked" // a body of 12 bytes is sent in chunks of 5
)

// looksAtBodies reports whether a tool reads bodies.
func (c content) looksAtBodies() bool {
	return c == textContent || c == jsonContent || c == stepContent || c == pairContent
}

// repeats reports whether all requests of it are the same.
func (c content) repeats() bool {
	switch c {
	case sameContent, responseContent, signedContent, digestContent, chunkedContent:
		return true
	}
	return c.looksAtBodies() && c != pairContent
}

// dataRows is how many rows the data of rowContent have.
const dataRows = 10_000

// contentWord stands at the end of contentBody.
const contentWord = "ready"

// contentPath is where nginx answers with contentBody.
const contentPath = "/orders"

// askedPath is where it answers so only requests with Authorization, and challenges others.
const askedPath = "/asked"

// challenge is that of askedPath.
const challenge = `Digest realm="bench", nonce="5ccc069c403ebaf9f0171e9517f40e41", qop="auth"`

// contentBody is 1 KiB of JSON, as an interface answers with: a list, then what is looked for.
var contentBody = func() string {
	const size, end = 1 << 10, `],"state":"` + contentWord + `"}`
	b := `{"orders":[`
	for i := 1; ; i++ {
		next := fmt.Sprintf(`{"id":%d,"name":"order %d","price":%d.5,"open":true},`, i, i, i)
		if len(b)+len(next)+len(end) > size {
			break
		}
		b += next
	}
	b = strings.TrimSuffix(b, ",")
	return b + strings.Repeat(" ", size-len(b)-len(end)) + end
}()

// contentRow returns a row whose requests differ or whose answers are looked at, beside the same
// load with one request and no look at an answer.
func contentRow(name, title string, c content, rivals ...string) row {
	r := row{
		name: name, title: title + ", 100 connections",
		load:       load{connections: 100, threads: 1, content: c},
		serverArgs: helloArgs, rivals: append([]string{"dyno-fixed"}, rivals...),
		baseline: []string{"dyno-fixed"}, columns: speedColumns,
	}
	if c.looksAtBodies() || c == digestContent {
		r.server = nginxServer
	}
	return r
}

// dynoFixedCommand is dyno with one request, of which no answer is looked at.
func dynoFixedCommand(l load, url string) command {
	l.content = sameContent
	return dynoCommand(l, url)
}

// addDynoContent adds to dyno's command what the content needs.
func addDynoContent(c command, of content, url string) command {
	last := len(c.args) - 1
	switch of {
	case countContent:
		c.args[last] = url + "?n={{seq}}"
	case drawnContent:
		c.args[last] = url + "?n={{int 1 1000000}}"
	case rowContent:
		var data strings.Builder
		data.WriteString("name,token\n")
		for i := range dataRows {
			fmt.Fprintf(&data, "user%d,token%d\n", i, i)
		}
		c.file, c.suffix = data.String(), ".csv"
		c.args = append(c.args[:last], "--data", scriptFile, "-H", "X-Token: {{token}}",
			url+"?name={{name}}&n={{seq}}")
	case textContent:
		c.args = append(c.args[:last], "--expect-body", `contains:"`+contentWord+`"`, url)
	case stepContent, pairContent:
		base, path := cutOrigin(url)
		c.file, c.suffix = strings.ReplaceAll(hurlContent[of], "PATH", path), ".hurl"
		c.args = append(c.args[:last], scriptFile, "--variable", "base="+base)
	case jsonContent:
		c.args = append(c.args[:last], "--expect-body", `json:$.state=="`+contentWord+`"`, url)
	case signedContent:
		c.args = append(c.args[:last], "--auth", "sigv4:eu-west-1/s3", "-u", "key:secret", url)
	case digestContent:
		origin, _ := cutOrigin(url)
		c.args = append(c.args[:last], "--auth", "digest", "-u", "user:password", origin+askedPath)
	case chunkedContent:
		c.args = append(c.args[:last], "--chunk-size", "5", "-b", "twelve bytes", url)
	case requestContent, responseContent:
		c.file, c.suffix = wrkContent[of], ".lua"
		c.args = append(c.args[:last], "--script", scriptFile, url)
	}
	return c
}

// cutOrigin cuts a URL before its path.
func cutOrigin(url string) (origin, path string) {
	begin := strings.Index(url, "://") + len("://")
	path = url[begin+strings.IndexByte(url[begin:]+"/", '/'):]
	return strings.TrimSuffix(url, path), path
}

// hurlStep is the step of stepContent.
const hurlStep = `GET {{base}}PATH
HTTP 200
[Captures]
state: jsonpath "$.state"
[Asserts]
jsonpath "$.orders[0].open" == true
jsonpath "$.orders[2].id" == 3
`

// hurlContent are the Hurl files.
var hurlContent = map[content]string{
	stepContent: hurlStep,
	pairContent: hurlStep + "\nGET {{base}}PATH?state={{state}}\nHTTP 200\n",
}

// wrkContent are wrk's scripts; it has none that reads JSON.
var wrkContent = map[content]string{
	countContent: `
local n = 0
function request() n = n + 1; return wrk.format(nil, wrk.path .. "?n=" .. n) end
`,
	drawnContent: `
function request() return wrk.format(nil, wrk.path .. "?n=" .. math.random(1, 1000000)) end
`,
	rowContent: fmt.Sprintf(`
local n, rows = 0, {}
for i = 1, %d do rows[i] = {"user" .. i, "token" .. i} end
function request()
  local row = rows[n %% #rows + 1]
  n = n + 1
  wrk.headers["X-Token"] = row[2]
  return wrk.format(nil, wrk.path .. "?name=" .. row[1] .. "&n=" .. n)
end
`, dataRows),
	requestContent: `
local n = 0
function request() n = n + 1; return wrk.format(nil, wrk.path .. "?n=" .. n) end
`,
	responseContent: `
n = 0
function response(status, headers, body)
  if status == 200 and headers["Content-Type"] and #body > 0 then n = n + 1 end
end
`,
	textContent: fmt.Sprintf(`
local wrong = 0
function response(status, headers, body)
  if not string.find(body, '"%s"', 1, true) then wrong = wrong + 1 end
end
`, contentWord),
}

// gcannonCommand: gcannon draws one number for each request of a file.
func gcannonCommand(l load, url string) command {
	if l.rate > 0 || l.close || l.tls || l.streams > 0 ||
		l.content != sameContent && l.content != drawnContent {
		return command{}
	}
	args := []string{url, "-c", decimal(l.connections), "-t", decimal(l.threads), "-d", inSeconds(l),
		"-p", decimal(max(l.pipeline, 1)), "--json"}
	if l.content == sameContent {
		return command{args: args}
	}
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
	return command{args: append(args, "--raw", scriptFile), suffix: ".raw",
		file: "GET /?n={RAND:1:1000000} HTTP/1.1\r\nHost: " + host + "\r\n\r\n"}
}

// k6Content are the functions of k6's users.
var k6Content = map[content]string{
	sameContent:  "http.get(url)",
	countContent: "http.get(url + '?n=' + ++n)",
	drawnContent: "http.get(url + '?n=' + Math.ceil(Math.random() * 1000000))",
	rowContent: fmt.Sprintf("const i = n++ %% %d; "+
		"http.get(url + '?name=user' + i + '&n=' + n, { headers: { 'X-Token': 'token' + i } })",
		dataRows),
	textContent: fmt.Sprintf(`check(http.get(url), { ready: (r) => r.body.includes('"%s"') })`,
		contentWord),
	jsonContent: fmt.Sprintf("check(http.get(url), { ready: (r) => r.json().state === '%s' })",
		contentWord),
	stepContent: k6Step + "; state = v.state",
	pairContent: k6Step + "; check(http.get(url + '?state=' + v.state), " +
		"{ ok: (r) => r.status === 200 })",
}

// k6Step is the step of stepContent. The body is parsed once for all that is read of it.
const k6Step = "const r = http.get(url), v = r.json(); check(r, { ok: (r) => r.status === 200, " +
	"open: () => v.orders[0].open === true, third: () => v.orders[2].id === 3 })"
