package served

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quic-go/quic-go/http3"
)

// A Server is what a server does.
type Server struct {
	Law
	OpenAI bool   // chat completions; else bare server-sent events
	TLS    bool   // HTTP/1.1 and HTTP/2, as the client chooses; without it both, too
	HTTP3  bool   // and nothing else
	File   string // of the log
}

// RunJSON runs the server that a JSON describes.
func RunJSON(text string) error {
	var s Server
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	return s.Run()
}

// Run serves until stdin ends, and then writes the log. It says first where it listens.
func (s Server) Run() error {
	h := &handler{Server: s}
	if s.Slots > 0 {
		h.slots = make(chan struct{}, s.Slots)
	}
	stop, address, err := s.listen(h)
	if err != nil {
		return err
	}
	fmt.Printf("listening on %s\n", address)
	io.Copy(io.Discard, os.Stdin)
	stop()
	h.all.Wait()
	f, err := os.Create(s.File)
	if err != nil {
		return err
	}
	return errors.Join(h.log.Write(f), f.Close())
}

func (s Server) listen(h http.Handler) (stop func() error, address string, err error) {
	config, err := certificate()
	if err != nil {
		return nil, "", err
	}
	if s.HTTP3 {
		c, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		server := &http3.Server{Handler: h, TLSConfig: http3.ConfigureTLSConfig(config)}
		go server.Serve(c)
		return server.Close, c.LocalAddr().String(), nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	server := &http.Server{Handler: h, TLSConfig: config, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if s.TLS {
		go server.ServeTLS(l, "", "")
	} else {
		go server.Serve(l)
	}
	return server.Close, l.Addr().String(), nil
}

func certificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	crt, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{crt},
		PrivateKey: key}}}, nil
}

// A handler answers requests.
type handler struct {
	Server
	slots chan struct{}
	all   sync.WaitGroup

	mu    sync.Mutex
	begun int64
	log   Log
}

// Counts are what GET /served tells.
type Counts struct{ Begun, Ended int64 }

// ServeHTTP answers with a stream, and clients of language models that ask which models there are.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	arrived := time.Now()
	h.mu.Lock()
	counts := Counts{h.begun, int64(len(h.log))}
	streams := strings.HasSuffix(r.URL.Path, "/completions") || r.URL.Path == "/"
	if streams {
		h.begun++
	}
	number := h.begun
	h.mu.Unlock()
	switch {
	case r.URL.Path == "/served":
		json.NewEncoder(w).Encode(counts)
	case !streams:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"object":"list","data":[{"id":"model","object":"model"}]}`)
	default:
		if n, err := strconv.ParseInt(r.URL.Query().Get("n"), 10, 64); err == nil {
			number = n
		}
		h.all.Add(1)
		defer h.all.Done()
		h.stream(w, r, Stream{Number: number, Arrived: arrived.UnixNano()})
	}
}

// event is one of openai, as a chat has it and as the older completion.
const event = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1790000000,` +
	`"model":"model","choices":[{"index":0,"delta":{"content":" word"},"text":" word",` +
	`"finish_reason":null}]}` + "\n\n"

// stream writes a stream and logs it, if its client stays.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, s Stream) {
	io.Copy(io.Discard, r.Body)
	if h.slots != nil {
		h.slots <- struct{}{}
		defer func() { <-h.slots }()
	}
	begun := time.Now()
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	text := "data: {\"n\": 1}\n\n"
	if h.OpenAI {
		text = event
	}
	for _, at := range h.draw(uint64(s.Number)) {
		due := begun.Add(at)
		time.Sleep(time.Until(due))
		now := time.Now()
		if _, err := io.WriteString(w, text); err != nil || flush.Flush() != nil {
			return
		}
		s.Events = append(s.Events, begun.UnixNano()+int64(now.Sub(begun)))
		s.Late = append(s.Late, int64(now.Sub(due)))
	}
	if h.OpenAI {
		fmt.Fprintf(w, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\","+
			"\"created\":1790000000,\"model\":\"model\",\"choices\":[],\"usage\":{\"prompt_tokens\":8,"+
			"\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n", h.Events, h.Events+8)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, s)
}

// A Process is a server, or another program that logs streams, which runs.
type Process struct {
	Address string
	cmd     *exec.Cmd
	stdin   io.Closer
	file    string
}

// Start starts a program that says where it listens, and that writes the log to a file when its
// stdin ends.
func Start(ctx context.Context, file string, command ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cmd.Process.Kill()
		return nil, errors.Join(fmt.Errorf("%s did not say where it listens", command[0]), cmd.Wait())
	}
	return &Process{strings.TrimSpace(strings.TrimPrefix(line, "listening on ")), cmd, in, file}, nil
}

// Stop ends the program, and returns its log.
func (p *Process) Stop() (Log, error) {
	p.stdin.Close()
	if err := p.cmd.Wait(); err != nil {
		return nil, err
	}
	f, err := os.Open(p.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}
