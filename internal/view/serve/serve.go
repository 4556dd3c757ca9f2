// Package serve is the dashboard: a page in the browser that shows a load while it
// runs, starts and stops one, looks at what is stored, and watches experiments. It is
// an HTTP server for one person on one machine, and it answers with JSON; the
// page itself is TypeScript, in internal/view/page/web.
//
// A request's way, each line a step further:
//
//	Server.ServeHTTP   guard.go     headers, Host, same origin, token
//	  links, cookies   crosslink.go links from other sites; logins.go: the cookie's file
//	  mux              serve.go     every path with its handler
//	    pages, assets  pages.go     the empty page, its script and style
//	    results        results.go   what is stored: list, one, compare
//	    answers        answers.go   what the report of one says first
//	    history        history.go   what is stored, as series with their changes
//	    load           load.go      the load that runs: begin, stop
//	    form           form.go      its form: read, checked, filled as a load was
//	      next         nextform.go  is filled in for the next step
//	      policy       policy.go    where a form may send a load
//	    labs           labs.go      folders of experiments, polled once a second
//	      conduct      conduct.go   the experiment that runs: which may, begin, stop, resume
//	      versus       versus.go    one of servers that run, which a form names by URL
//	    events         journal.go   events that browsers follow, and resume
//
// A load runs in another process, so that the browser takes no CPU from the threads that
// measure. The caller of New gives the functions that read a form and run a plan, so that
// forms and command lines use the same code.
//
// The dashboard can send a load to a server, so it is guarded as such: see guard.go
// for what it refuses, and policy.go for where it sends nothing.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Config is what a dashboard is made of.
type Config struct {
	Listen  string   // address and port; port 0: any that is free
	Exposed bool     // Listen may be an address that other machines reach
	Targets Policy   // where its form may send a load
	Home    string   // of what is stored
	Folders []string // of experiments, besides those in Home

	Form []Group                   // the fields of the form; none: there is no form
	Read func(Form) (Job, []error) // what a form asks for; a loadplan.Flaw names its field

	Offers  func() []Offer                                    // experiments that the page may begin
	Conduct func(id string, quick bool) (Conducting, []error) // one of them; nil: none may be
	Versus  func(Form) (Conducting, []error)                  // of servers that run; nil: likewise
	Resume  func(dir string) Conducting                       // one begun here; nil: none may go on

	VersusForm []Field // the fields of the form that Versus reads
}

// A Server is a dashboard, from New until Close.
type Server struct {
	Config
	listener net.Listener
	hosts    map[string]bool // that a request may be for
	keys     keys
	file     string // that the cookie is remembered in; "": it is not
	mux      *http.ServeMux
	http     *http.Server
	loads    loads
	labs     labs
	listed   listing

	followers atomic.Int32 // browsers that events are sent to
}

// Limits of one request. Events have none: they last as long as the load.
const (
	headerTime  = 5 * time.Second
	requestTime = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
	bodyBytes   = 1 << 20
)

// New listens where c says, and answers once Serve is called.
func New(c Config) (*Server, error) {
	at, err := listenAddress(c)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c}
	if s.listener, err = net.Listen("tcp", at); err != nil {
		return nil, fmt.Errorf("listening for browsers: %w; --listen 127.0.0.1:0 takes a free port",
			err)
	}
	bound := s.listener.Addr().(*net.TCPAddr).AddrPort()
	s.hosts = hostNamesOf(bound)
	if !strings.HasSuffix(at, ":0") { // nobody comes again to a port that was drawn
		s.file = filepath.Join(c.Home, "serve", strconv.Itoa(int(bound.Port())))
	}
	s.keys = newKeys(readCookie(s.file))
	s.keepCookie()
	s.loads.journal = newJournal(pointsKept)
	s.loads.journal.restart("idle", struct{}{})
	s.labs = newLabs(c.Home, c.Folders)
	s.labs.resumes = c.Resume != nil
	s.mux = s.newMux()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: headerTime, ReadTimeout: requestTime,
		WriteTimeout: requestTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog: log.New(io.Discard, "", 0)} // what a browser does wrong is not ours to say
	s.http.DisableGeneralOptionsHandler = true // else OPTIONS * would be answered before the guard
	return s, nil
}

// listenAddress is where to listen: a loopback address, unless c says that others may be.
func listenAddress(c Config) (string, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return "", fmt.Errorf("%q is not an address and a port, as 127.0.0.1:%d", c.Listen, Port)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%q is not a port, a number up to 65535", port)
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return "", fmt.Errorf("%q is not an address; give it in numbers, as 127.0.0.1:%d", host, Port)
	case ip.IsUnspecified():
		return "", fmt.Errorf("%s is all addresses of the machine; name the one that is meant", host)
	case !ip.Unmap().IsLoopback() && !c.Exposed:
		return "", fmt.Errorf("%s can be reached by other machines: whoever sees the dashboard's URL, "+
			"which goes over the network unencrypted, can start loads; --expose if that is meant", host)
	}
	return net.JoinHostPort(host, port), nil
}

// Port is where a dashboard is looked for first: DYNO on a telephone's keys.
const Port = 3966

// newMux has the handler of every path.
func (s *Server) newMux() *http.ServeMux {
	m := http.NewServeMux()
	for path, kind := range pageKinds {
		m.HandleFunc("GET "+path, s.pageHandler(kind))
	}
	m.HandleFunc("GET /assets/{name}", s.serveAsset)
	m.HandleFunc("GET /api/results", s.serveResults)
	m.HandleFunc("GET /api/results/{id}", s.serveResult)
	m.HandleFunc("GET /api/results/{id}/answer", s.serveAnswer)
	m.HandleFunc("PUT /api/results/{id}/note", s.saveNote)
	m.HandleFunc("GET /results/{id}", s.serveResultReport)
	m.HandleFunc("GET /api/compare", s.serveComparison)
	m.HandleFunc("GET /api/history", s.serveHistory)
	m.HandleFunc("GET /api/history/labs/{id}", s.serveLabPast)
	m.HandleFunc("GET /api/form", s.serveForm)
	m.HandleFunc("POST /api/form", s.checkForm)
	m.HandleFunc("GET /api/results/{id}/form", s.serveFilledForm)
	m.HandleFunc("POST /api/load", s.beginLoad)
	m.HandleFunc("DELETE /api/load", s.stopLoad)
	m.HandleFunc("GET /api/load/events", s.watchLoad)
	m.HandleFunc("GET /api/experiments", s.serveOffers)
	m.HandleFunc("GET /api/labs", s.serveLabs)
	m.HandleFunc("POST /api/labs", s.beginLab)
	m.HandleFunc("GET /api/versus", s.serveVersusForm)
	m.HandleFunc("POST /api/versus", s.beginVersus)
	m.HandleFunc("DELETE /api/labs/{id}", s.stopLab)
	m.HandleFunc("POST /api/labs/{id}/resume", s.resumeLab)
	m.HandleFunc("GET /api/labs/{id}/answer", s.serveLabAnswer)
	m.HandleFunc("GET /api/labs/{id}/events", s.watchLab)
	m.HandleFunc("GET /labs/{id}/report", s.serveLabReport)
	return m
}

// URL is the page at path, with the token that lets a browser in.
func (s *Server) URL(path string) string { return s.Base() + path + "?token=" + s.keys.token }

// OnceURL is URL with a token that lets one browser in and no other: it may be seen by
// other users of the machine, as a command's arguments are.
func (s *Server) OnceURL(path string) string {
	return s.Base() + path + "?token=" + s.keys.onceToken()
}

// Base is the dashboard's address, without a token.
func (s *Server) Base() string { return "http://" + s.listener.Addr().String() }

// Serve answers browsers until ctx ends, then stops the load or the experiment that one of
// them began, and waits for its end.
func (s *Server) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	var ended sync.WaitGroup
	ended.Go(func() {
		<-ctx.Done()
		s.loads.stopAndWait()
		s.http.Close()
	})
	err := s.http.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	stop()
	ended.Wait()
	s.keepCookie()
	if err != nil {
		return fmt.Errorf("answering browsers: %w", err)
	}
	return nil
}

// keepCookie keeps the cookie for the next start. Where it cannot be kept, browsers need the new
// token then, and the page says so.
func (s *Server) keepCookie() {
	if s.file != "" {
		_ = writeCookie(s.file, s.keys.cookie)
	}
}

// Close lets go of the port, for who will not call Serve.
func (s *Server) Close() error { return s.listener.Close() }
