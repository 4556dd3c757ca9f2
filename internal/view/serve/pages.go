package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"dyno/internal/view/page"
)

// pageKinds are the pages, and what each is called by the script that fills it. Reports are
// not among them: each is the file that dyno report writes, whole.
var pageKinds = map[string]string{
	"/":        "home",
	"/live":    "live",
	"/compare": "compare",
	"/history": "history",
	"/lab":     "lab",
}

// pageHandler answers with an empty page, which the script fills. What is in the text as data is
// no script to a browser.
func (s *Server) pageHandler(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if kind == "home" && r.URL.Path != "/" { // "GET /" is every path that is no other
			answerError(w, http.StatusNotFound, fmt.Sprintf("there is no %q here", r.URL.Path))
			return
		}
		if _, err := page.Assets(); err != nil {
			answerError(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>dyno</title>
<link rel="stylesheet" href="/assets/%s">
</head>
<body>
<noscript><h1>dyno</h1><p>The dashboard needs JavaScript, which dyno itself sends.</p></noscript>
<script type="application/json" id="data">{"kind":"%s"}</script>
<script src="/assets/%s"></script>
</body>
</html>
`, page.Style, html.EscapeString(kind), page.Script)
	}
}

// serveAsset answers with the page's script or style.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request) {
	types := map[string]string{page.Script: "text/javascript", page.Style: "text/css"}
	name := r.PathValue("name")
	assets, err := page.Assets()
	if err != nil || types[name] == "" {
		answerError(w, http.StatusNotFound, fmt.Sprintf("there is no %q here", path.Base(name)))
		return
	}
	b, err := fs.ReadFile(assets, name)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", types[name]+"; charset=utf-8")
	w.Write(b)
}

// A servedAt tells the script of a report that a dashboard shows it, and where its links lead.
type servedAt struct {
	Origin   string `json:"origin"` // of the dashboard: a copy of the page elsewhere has no bar
	Download string `json:"download"`
	File     string `json:"file"`
	Repeat   string `json:"repeat,omitempty"`
}

// answerPage answers with a file that is whole in itself, with the policy in it; ours would
// forbid its script. With ?download the answer is the file, without a bar that leads here.
func (s *Server) answerPage(w http.ResponseWriter, r *http.Request, id string,
	write func(io.Writer) error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	h, file := w.Header(), id+".html"
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if r.URL.Query().Has("download") {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment",
			map[string]string{"filename": file}))
		w.Write(b.Bytes())
		return
	}
	at := servedAt{Origin: "http://" + r.Host, Download: r.URL.EscapedPath() + "?download", File: file}
	if s.Read != nil && strings.HasPrefix(r.URL.Path, "/results/") {
		at.Repeat = "/live?repeat=" + url.QueryEscape(id)
	}
	text, err := json.Marshal(at)
	if err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Write(page.Served(b.Bytes(), string(text)))
}
