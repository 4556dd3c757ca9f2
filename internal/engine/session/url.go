package session

import (
	"bytes"
	"strings"

	"dyno/internal/engine/hurl"
	"dyno/internal/engine/proto"
	"dyno/internal/fact"
)

// This file makes the paths of requests from the URLs of a file.

// setPath writes the path of the URL, with the query. It refuses URLs of other origins.
func (d *draft) setPath(r *hurl.Request) {
	all := merged(withoutDoubleSlash(d.parts(r.URL)))
	if len(all) == 0 || all[0].text == nil {
		d.wrong(r.URL.Pos, fact.InScenario{Of: fact.NoHost, Name: r.Method})
		return
	}
	rest, fault := d.withoutOrigin(string(all[0].text))
	if fault.Of != "" {
		d.wrong(r.URL.Pos, fault)
		return
	}
	all[0].text = []byte(rest)
	switch {
	case rest == "" && len(all) > 1 && d.Unknown:
		all[0].text = []byte("/")
	case rest == "" && len(all) > 1:
		d.wrong(all[1].at, fact.InScenario{Of: fact.PathUnknown})
		return
	}
	d.begin()
	d.writeParts(all, inURL, proto.InPath)
	d.shown = []byte(pathSource(r.URL.Source()))
	if len(d.text) == 0 || d.text[0] == '?' {
		d.text = append([]byte("/"), d.text...)
		for i := range d.holes {
			d.holes[i].At++
		}
	}
	if len(d.holes) == 0 && !d.entry.pathAsIs {
		d.text = []byte(withoutDots(string(d.text)))
	}
	for i, kv := range r.Query {
		switch s := string(d.text); {
		case i > 0 || strings.Contains(s, "?") && !strings.HasSuffix(s, "?"):
			d.writeText("&")
		case !strings.HasSuffix(s, "?"):
			d.writeText("?")
		}
		d.writePair(kv, proto.InPath)
	}
	d.request.Path, d.written.Path = string(d.text), string(d.shown)
	d.request.Holes = append(d.request.Holes, d.holes...)
	if problem := proto.CheckValue(proto.InPath, d.text); problem != nil {
		d.fault(r.URL.Pos, "%v", problem)
	}
}

// withoutDoubleSlash drops the slash at the end of base where a path follows, so that
// {{base}}/login is no //login.
func withoutDoubleSlash(url []part) []part {
	if len(url) > 1 && url[0].name == BaseVariable && bytes.HasPrefix(url[1].text, []byte("/")) {
		url[0].text = bytes.TrimRight(url[0].text, "/")
	}
	return url
}

// withoutDots is a path, perhaps with a query, without the segments . and .., as RFC 3986, section
// 5.2.4, removes them, and curl does.
func withoutDots(path string) string {
	path, query, has := strings.Cut(path, "?")
	if has {
		query = "?" + query
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	kept := segments[:0:0]
	for i, s := range segments {
		switch {
		case s != "." && s != "..":
			kept = append(kept, s)
			continue
		case s == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		}
		if i == len(segments)-1 { // a folder
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/") + query
}

// pathSource is the path of a URL as it is written in the file.
func pathSource(url string) string {
	if i := strings.Index(url, "://"); i >= 0 {
		url = url[i+len("://"):]
		url = url[min(strings.IndexByte(url+"/", '/'), len(url)):]
	} else if strings.HasPrefix(url, "{{") {
		_, url, _ = strings.Cut(url, "}}")
	}
	if !strings.HasPrefix(url, "/") {
		url = "/" + url
	}
	return url
}

// withoutOrigin takes the run's origin off a URL. wrong.Of is "" if it has it.
func (d *draft) withoutOrigin(url string) (rest string, wrong fact.InScenario) {
	scheme, after, has := strings.Cut(url, "://")
	if !has {
		return "", fact.InScenario{Of: fact.NoScheme, Value: url}
	}
	end := strings.IndexAny(after, "/?#")
	if end < 0 {
		end = len(after)
	}
	if named := scheme + "://" + after[:end]; !d.Origin.is(scheme, after[:end]) {
		return "", fact.InScenario{Of: fact.OtherServer, Value: named, Other: d.Origin.URL}
	}
	if rest = after[end:]; strings.Contains(rest, "#") {
		return "", fact.InScenario{Of: fact.Fragment}
	}
	return rest, wrong
}
