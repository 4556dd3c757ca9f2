package pagetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/chromedp/cdproto/network"
)

// HAR is what the tab has requested so far as a HAR file, with the headers that went over the wire:
// what the browser's own developer tools export.
func (tab *Tab) HAR() []byte {
	tab.t.Helper()
	tab.mu.Lock()
	defer tab.mu.Unlock()
	type pair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	type post struct {
		Type string `json:"mimeType"`
		Text string `json:"text"`
	}
	type request struct {
		Method  string `json:"method"`
		URL     string `json:"url"`
		Version string `json:"httpVersion"`
		Headers []pair `json:"headers"`
		Post    *post  `json:"postData,omitempty"`
	}
	type entry struct {
		Started string  `json:"startedDateTime"`
		Request request `json:"request"`
	}
	var all []entry
	for _, e := range tab.requests {
		r := request{Method: e.Request.Method, URL: e.Request.URL, Version: "HTTP/1.1", Headers: []pair{}}
		headers := e.Request.Headers
		if raw, sent := tab.rawHeaders[e.RequestID]; sent {
			headers = raw
		}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			r.Headers = append(r.Headers, pair{name, fmt.Sprint(headers[name])})
		}
		if e.Request.HasPostData {
			text := ""
			for _, p := range e.Request.PostDataEntries {
				text += string(p.Bytes)
			}
			r.Post = &post{fmt.Sprint(headers["Content-Type"]), text}
		}
		when := time.UnixMicro(int64(e.WallTime.Float64() * 1e6)).UTC().Format("2006-01-02T15:04:05.000Z")
		all = append(all, entry{when, r})
	}
	b, err := json.MarshalIndent(map[string]any{"log": map[string]any{"version": "1.2",
		"creator": map[string]string{"name": "chromium", "version": "CDP"}, "entries": all}}, "", "  ")
	if err != nil {
		tab.t.Fatal(err)
	}
	return b
}

// recordRequest keeps what HAR shows.
func (tab *Tab) recordRequest(e *network.EventRequestWillBeSent) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.fetched = append(tab.fetched, e.Request.URL)
	tab.requests = append(tab.requests, e)
}

// recordHeaders keeps the headers of a request as they were sent.
func (tab *Tab) recordHeaders(e *network.EventRequestWillBeSentExtraInfo) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if tab.rawHeaders == nil {
		tab.rawHeaders = map[network.RequestID]network.Headers{}
	}
	tab.rawHeaders[e.RequestID] = e.Headers
}
