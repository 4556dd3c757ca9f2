package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
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
		if _, err := page.Asset(page.Script); err != nil {
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
	if types[name] == "" {
		answerError(w, http.StatusNotFound, fmt.Sprintf("there is no %q here", path.Base(name)))
		return
	}
	b, err := page.Asset(name)
	if err != nil {
		answerError(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.Header().Set("Content-Type", types[name]+"; charset=utf-8")
	w.Write(b)
}

// A servedAt tells the script of a report that a dashboard shows it, and where its links lead.
type servedAt struct {
	Origin string `json:"origin"` // of the dashboard: a copy of the page elsewhere has no bar
	Files  []file `json:"files"`
	Repeat string `json:"repeat,omitempty"`
}

// A file is a form in which a report can be downloaded.
type file struct {
	Name string `json:"name"` // of the link
	At   string `json:"at"`
	File string `json:"file"` // its name

	kind  string // of its content
	write func(io.Writer) error
}

const htmlType = "text/html; charset=utf-8"

// filesOf are the forms of a report, the page first.
func filesOf(page, markdown, record, table func(io.Writer) error) []file {
	return []file{{"Page", "?download", ".html", htmlType, page},
		{"Markdown", "?download=md", ".md", "text/markdown; charset=utf-8", markdown},
		{"JSON", "?download=json", ".json", "application/json", record},
		{"CSV", "?download=csv", ".csv", "text/csv; charset=utf-8", table}}
}

// formsText is what the forms of a report are asked for by.
func formsText(files []file) string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.At
	}
	return strings.Join(all, ", ")
}

// answerReport answers with a page that is whole in itself, with the policy in it; ours would
// forbid its script. With ?download the answer is one of the files, without a bar that leads here.
func (s *Server) answerReport(w http.ResponseWriter, r *http.Request, id string,
	whole func(io.Writer) error, files []file) {
	shown := file{kind: htmlType, write: whole}
	if query := r.URL.Query(); query.Has("download") {
		asked := strings.TrimSuffix("?download="+query.Get("download"), "=")
		i := slices.IndexFunc(files, func(f file) bool { return f.At == asked })
		if i < 0 {
			answerError(w, http.StatusBadRequest, fmt.Sprintf("there is no %q; a report can be had as %s",
				asked, formsText(files)))
			return
		}
		shown = files[i]
		shown.File = id + shown.File
	}
	for i := range files {
		files[i].File = id + files[i].File
		files[i].At = r.URL.EscapedPath() + files[i].At
	}
	var b bytes.Buffer
	if err := shown.write(&b); err != nil {
		answerError(w, http.StatusInternalServerError, err.Error())
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "frame-ancestors 'none'")
	h.Set("Content-Type", shown.kind)
	if shown.File != "" {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment",
			map[string]string{"filename": shown.File}))
		w.Write(b.Bytes())
		return
	}
	at := servedAt{Origin: "http://" + r.Host, Files: files}
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
