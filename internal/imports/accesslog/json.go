package accesslog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// This file reads logs whose lines are objects of JSON, by the names of their fields: those of
// nginx's variables, of Caddy, Traefik, Envoy and of programs that log as they like. Objects inside
// of others have their names joined, so that Caddy's request.uri is requesturi.

// names of the fields of a line, in small letters and without what is none: the first that a line
// has counts. More telling ones are before others: $request_uri has the query, $uri has not.
var names = map[string][]string{
	"request": {"request", "requestline", "httprequest"},
	"uri": {"requesturi", "rawpath", "urloriginal", "requesturl", "httprequestrequesturl", "uri",
		"url", "target", "requesttarget", "requestpath", "path", "urlpath", "httppath", "httptarget"},
	"args": {"args", "querystring", "query", "requestquery", "urlquery"},
	"method": {"requestmethod", "method", "httpmethod", "httprequestmethod",
		"httprequestrequestmethod", "verb"},
	"host": {"httphost", "host", "requesthost", "vhost", "authority", "urldomain"},
	"status": {"status", "statuscode", "responsestatus", "downstreamstatus", "responsecode",
		"responsestatuscode", "httpstatus", "httpstatuscode", "httpresponsestatuscode",
		"httprequeststatus", "requeststatus", "code"},
	"time": {"msec", "timestamp", "ts", "timeiso8601", "timelocal", "startutc", "starttime", "time",
		"datetime", "date", "t"},
}

// deepestField is how many objects lie inside each other at most; what is deeper is of no interest.
const deepestField = 4

// parseJSON parts a line of JSON.
func parseJSON(line string) (e entry, column int, err error) {
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		if s, is := errors.AsType[*json.SyntaxError](err); is {
			return e, int(s.Offset), fmt.Errorf("is no JSON: %w", err)
		}
		if t, is := errors.AsType[*json.UnmarshalTypeError](err); is {
			return e, 1, fmt.Errorf("is a %s and no object", t.Value)
		}
		return e, 1, errors.New("is no JSON: it ends within the object")
	}
	all := map[string]string{}
	flatten(all, "", object, deepestField)
	find := func(of string) string {
		for _, name := range names[of] {
			if value := all[name]; value != "" {
				return value
			}
		}
		return ""
	}
	e.method, e.uri, e.args = find("method"), find("uri"), strings.TrimPrefix(find("args"), "?")
	if method, uri, is := requestLine(find("request")); is {
		e.method, e.uri = method, uri
	}
	if e.uri == "" {
		return e, 1, errors.New("has no field with the path of a request, as request_uri, uri, url " +
			"or path")
	}
	_ = e.set("host", find("host")) // which takes any
	if status := find("status"); e.set("status", status) != nil {
		e.status = ""
	}
	for _, name := range names["time"] {
		if t, is := readTime(all[name]); is {
			e.at, e.timed = t, true
			break
		}
	}
	if e.status == "" && !e.timed {
		return e, 1, errors.New("has neither a status nor a time, as a log has")
	}
	return e, 1, nil
}

// flatten adds the texts and numbers of an object, with the names of what they are in before
// theirs.
func flatten(to map[string]string, before string, object map[string]any, depth int) {
	for name, value := range object {
		plain := before + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, strings.ToLower(name))
		switch value := value.(type) {
		case string:
			to[plain] = value
		case json.Number:
			to[plain] = value.String()
		case map[string]any:
			if depth > 1 {
				flatten(to, plain, value, depth-1)
			}
		}
	}
}

// requestLine parts the first line of a request, with or without a version (HTTP/0.9).
func requestLine(s string) (method, uri string, is bool) {
	parts := strings.Fields(s)
	if len(parts) == 2 || len(parts) == 3 {
		return parts[0], parts[1], true
	}
	return "", "", false
}

// readTime reads a time: in words as ISO 8601 or Apache has it, or a number since 1970 in a unit
// that its size gives away. A smaller number is a duration.
func readTime(s string) (at time.Duration, is bool) {
	for _, layout := range []string{time.RFC3339Nano, apacheTime,
		"2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999 -0700 MST"} {
		if t, err := time.Parse(layout, s); err == nil {
			return since1970(t), true
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 1e8 && n < 1e19) {
		return 0, false
	}
	unit := "msec"
	switch {
	case n >= 1e17: // nanoseconds
		return time.Duration(n/1e3) * 1e3, n < 1<<62
	case n >= 1e14:
		unit = "microseconds"
	case n >= 1e11:
		unit = "milliseconds"
	}
	var e entry
	err = e.setTime(unit, s)
	return e.at, err == nil
}
