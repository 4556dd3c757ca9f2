package setting

import (
	"errors"
	"strings"

	"dyno/internal/engine/data"
	"dyno/internal/engine/loadplan"
)

// requestRows is what is sent, and what responses must be. What has no access is read by cli, which
// makes the plan's requests of it.
var requestRows = []Setting{
	{Name: "method", Short: "X", Value: "M", Group: requestGroup, On: All,
		Does:   "GET, unless there is a body: then POST",
		Values: strings.Fields("GET HEAD POST PUT PATCH DELETE OPTIONS"), Free: true,
		Form: &Form{Hint: Hint{Default: "GET"}}, Key: "workload.request.method"},
	{Name: "header", Short: "H", Value: "'K: V'", Group: requestGroup, On: All,
		Does: "a header, or @FILE with one a line; {again}",
		Form: &Form{Does: "a header, as X-Trace: on"}, Key: "workload.request.headers"},
	{Name: "user", Short: "u", Value: "USER:PASSWORD", Group: requestGroup, On: All, Secret: true,
		Does:   "the header Authorization: Basic of these",
		Access: Access{Set: setSender, Text: sender}, Field: "User", Library: "User",
		Key: "workload.user",
		Schema: KeyWords{`"type": "string"`, "with auth, who sends requests: USER:PASSWORD, or " +
			"KEY:SECRET; {{env \"NAME\"}} keeps it out of the file"}},
	{Name: "auth", Value: "HOW", Group: requestGroup, On: All,
		Does: "how -u says who sends a request: digest (it answers challenges), or\n" +
			"sigv4:REGION/SERVICE with KEY:SECRET (AWS; the request is signed)",
		Values: []string{loadplan.Digest, "sigv4:us-east-1/s3"}, Free: true,
		Access: notOfLibrary(text(func(p *loadplan.Plan) *string { return &p.Auth })),
		Field:  "Auth", Library: "Auth", Key: "workload.auth",
		Schema: KeyWords{`"type": "string"`, "how user says who sends a request: digest, or " +
			"sigv4:REGION/SERVICE; default: its headers do"},
		Says: func(p *loadplan.Plan) string {
			if p.Auth == "" {
				return ""
			}
			return "signs with " + p.Auth
		},
		Stored: "how requests say who sends them, digest or sigv4:REGION/SERVICE; absent: as their " +
			"headers do"},
	{Name: "body", Short: "b", Value: "S|@FILE", Group: requestGroup, On: All, Secret: true,
		Does: "a body, or the file that holds it", Form: &Form{Does: "what is sent"},
		Key: "workload.request.body"},
	{Name: "json-body", Value: "FILE", Group: requestGroup, On: Run | Find,
		Does: "a file of JSON as the body, with its Content-Type"},
	{Name: "form", Value: "K=V|K=@FILE", Group: requestGroup, On: Run | Find,
		Does: "a field of a form as the body, or a file to upload;\n{again}"},
	{Name: "urls", Value: "FILE", Group: requestGroup, On: All,
		Does: "paths or URLs, one a line, sent in turn", Key: "workload.urls",
		Schema: KeyWords{`"type": "string"`, "a file beside this one, of one path or URL a line"}},
	{Name: "bodies", Value: "FILE", Group: requestGroup, On: Run | Find,
		Does: "bodies, one a line, sent in turn"},
	{Name: "requests-file", Value: "FILE", Group: requestGroup, On: All,
		Does: "requests, one JSON object a line, with any of\n" +
			"method, url, headers, body, body_base64, weight, name, timeout, at_s,\n" +
			"expect_status, expect_body, expect_header",
		Field: "Requests", Library: "Method, Header, Body", Key: "workload.requests_file",
		Schema: KeyWords{`"type": "string"`, "a file of JSON lines beside this one: method, url, " +
			"headers, body, weight, timeout, name, expect_status, expect_body, expect_header"},
		Stored: "those that were sent, in turn and by weight; with data only the first of them, or " +
			"none if that is longer than 64 KiB"},
	{Name: "script", Value: "FILE.lua", Group: requestGroup, On: All,
		Does: "a script in Lua with wrk's API makes the requests; its arguments\n" +
			"follow the URL and --", Key: "workload.script",
		Schema: KeyWords{`"type": "string"`, "a script in Lua with wrk's API, beside this one, which " +
			"makes requests from request"}},
	{Name: "variable", Value: "K=V", Group: requestGroup, On: All,
		Does: "{{K}} in a URL, a header or a body is V; {again}", Field: "Variables",
		Form: &Form{}, Key: "workload.variables",
		Schema: KeyWords{`"type": "object", "additionalProperties": {"$ref": "#/$defs/scalar"}`,
			"what {{name}} is in path, headers, body, requests_file and urls"},
		Stored: "what {{name}} in requests is, besides functions and columns"},
	{Name: "variables-file", Value: "FILE", Group: requestGroup, On: All,
		Does: "variables, K=V, one a line; {again}"},
	{Name: "data", Value: "FILE", Group: requestGroup, On: All,
		Does: "rows, whose columns are names in {{}}, from FILE.csv or FILE.jsonl", Key: "workload.data",
		Schema: KeyWords{`"type": "string"`, "a file beside this one, .csv or .jsonl, whose columns " +
			"are names in {{}}"}},
	{Name: "data-order", Value: "ORDER", Group: requestGroup, On: All,
		Does: "which row a request has: in-order, random, once (each, in the\n" +
			"whole run), or per-user (a user has the same in all) (in-order)",
		Values: data.OrderNames(), Field: "Rows", Key: "workload.data_order",
		Schema: KeyWords{oneOf, "which row a request " +
			"has; default in-order. Each trial begins anew. once: each row once in a trial, which needs " +
			"requests of each level and warmup: {max: 0}"}},
	{Name: "users", Value: "N", Group: requestGroup, On: All,
		Least: 1, Most: loadplan.MaxUsers,
		Does: "users who send in turn, each with a row and random values of its own\n" +
			"(one for each request in flight at once)",
		Access: amount(func(p *loadplan.Plan) *int { return &p.Users }, Positive(ParseInt)),
		Field:  "Users", Library: "Users", Key: "workload.users",
		Schema: KeyWords{`"type": "integer"`,
			"who send in turn, each with a row and random values of its own; default: one for each " +
				"request under way at once"},
		Form:   &Form{Hint: Hint{Unit: "users"}},
		Stored: "of a scenario; absent: one for each request that can be in flight"},
	{Name: "accept-encoding", Value: "LIST", Group: requestGroup, On: All,
		Does: "the header Accept-Encoding of requests without one, as gzip, or\n" +
			"br,gzip;q=0.5; bytes count as they come, and checks see the body\n" +
			"decoded",
		Values: []string{"gzip", "br", "zstd", "gzip,br,zstd"}, Free: true,
		Access: text(func(p *loadplan.Plan) *string { return &p.AcceptEncoding }),
		Field:  "AcceptEncoding", Library: "AcceptEncoding", Key: "level.accept_encoding",
		Schema: KeyWords{`"type": "string"`, "the header Accept-Encoding of requests without one, as " +
			"gzip or br,gzip;q=0.5; default: none"},
		Form: &Form{},
		Says: func(p *loadplan.Plan) string {
			if p.AcceptEncoding == "" {
				return ""
			}
			return "accepts " + p.AcceptEncoding
		},
		Stored: "the header Accept-Encoding of requests without one; absent: none"},
	{Name: "chunk-size", Value: "N", Group: requestGroup, On: All,
		Least: 1, Most: loadplan.MaxChunk,
		Does: "send bodies in chunks of N bytes (Transfer-Encoding: chunked); with\n" +
			"that header and without N, chunks have 65536",
		Access: amount(func(p *loadplan.Plan) *int { return &p.ChunkSize }, Positive(ParseInt)),
		Field:  "ChunkSize", Library: "ChunkSize", Key: "level.chunk_size",
		Schema: KeyWords{`"type": "integer"`, "send bodies in chunks of so many bytes " +
			"(Transfer-Encoding: chunked); default: with Content-Length"},
		Form:   &Form{Hint: Hint{Unit: "bytes"}},
		Stored: "bytes of a body that a chunk has; absent: bodies have Content-Length"},
	{Name: "expect-body", Value: "WHAT", Group: requestGroup, On: All,
		Does: "contains:TEXT, regex:RE, sha256:HEX or json:PATH[==VALUE]: a\n" +
			"response without it is an error; {again}",
		Access: each(func(p *loadplan.Plan) *[]string { return &p.Expectations.Body }, expectBody,
			strings.Clone),
		Field: "Expectations.Body", Form: &Form{}, Key: "workload.expect.body",
		Stored: "checks of bodies: contains:, regex:, sha256: or json:"},
	{Name: "expect-header", Value: "'K: V'", Group: requestGroup, On: All,
		Does: "likewise of a header, or K for any value; {again}",
		Access: each(func(p *loadplan.Plan) *[]string { return &p.Expectations.Header }, expectHeader,
			strings.Clone),
		Field: "Expectations.Header", Form: &Form{}, Key: "workload.expect.header",
		Stored: "checks of headers, Name: value or Name"},
	{Name: "expect", Value: "LIST", Group: requestGroup, On: All,
		Does: "statuses that are right, as 200,404 or 2xx, or any; others are errors\n" +
			"(default: all below 400)", Values: []string{"any", "2xx", "200"}, Free: true,
		Access: at(func(p *loadplan.Plan) *[]loadplan.Statuses { return &p.Expect },
			loadplan.ParseStatuses, list(loadplan.Statuses.String)),
		Field: "Expect", Library: "Expect", Key: "workload.expect.status",
		Form:   &Form{Hint: Hint{Default: "all below 400", Choices: []string{"2xx", "200", "any"}}},
		Stored: "statuses that are not errors; absent: those below 400"},
	{Name: "follow", Value: "N", Group: requestGroup, On: All,
		Least: 0, Most: loadplan.MaxFollow,
		Does: "follow up to N redirects of a request on its server; the request\n" +
			"counts once, with its last answer ({default}: none)",
		Access: count(func(p *loadplan.Plan) *int { return &p.Follow }, ParseInt),
		Field:  "Follow", Library: "Follow", Key: "level.follow",
		Schema: KeyWords{`"type": "integer"`, "redirects of one request " +
			"to follow, on the same server; the request counts once, with its last answer; default " +
			"{default}"},
		Form: &Form{}, Stored: "redirects of one request that are followed at most; absent: none"},
	{Name: "follow-to", Value: "ORIGIN", Group: requestGroup, On: Run | Find,
		Does: "follow redirects also to this origin, as https://HOST, without\n" +
			"Authorization and Cookie; {again}",
		Access: each(func(p *loadplan.Plan) *[]loadplan.Target { return &p.FollowTo }, parseOrigin,
			func(t loadplan.Target) string { return t.URL }),
		Field: "FollowTo", Stored: "other origins that redirects may lead to; absent: none"},
}

// sender stands for who sends requests, where the plan says how: nobody is shown it.
func sender(p *loadplan.Plan) []string {
	if p.Auth == "" {
		return nil
	}
	return []string{"USER:PASSWORD"}
}

// setSender sets who sends requests.
func setSender(p *loadplan.Plan, s string) error {
	if !strings.Contains(s, ":") {
		return errors.New("has no colon; write USER:PASSWORD, and USER: without a password")
	}
	p.User = s
	return nil
}

// notOfLibrary is an access of which the library sets the fields itself.
func notOfLibrary(a Access) Access {
	a.Take = nil
	return a
}
