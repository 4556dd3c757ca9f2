package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// nginxConf is nginx with HTTP/1.1 and HTTP/2, with TLS and without, for as many CPUs as it
// may use: one worker each, nothing logged, no limit to a connection's requests, every
// handshake a full one, and for all clients one cipher and one group.
const nginxConf = `daemon off;
pid nginx.pid;
error_log stderr error;
%s
worker_rlimit_nofile 65536;
events { worker_connections 16384; }
http {
	access_log off;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	keepalive_requests 1000000000;
	http2_max_concurrent_streams 128;
	ssl_protocols TLSv1.3;
	ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
	ssl_ecdh_curve X25519;
	ssl_session_cache off;
	ssl_session_tickets off;
	server {
		listen %s ssl http2;
		ssl_certificate cert.pem;
		ssl_certificate_key key.pem;
		location / { return 200 "hello world\n"; }
	}
	server {
		listen %s http2;
		location / { return 200 "hello world\n"; }
	}
	server {
		listen %s;
		location = ` + contentPath + ` { return 200 '%[5]s'; }
		location = ` + askedPath + ` {
			if ($http_authorization = "") {
				add_header WWW-Authenticate '` + challenge + `' always;
				return 401;
			}
			return 200 '%[5]s';
		}
		location = ` + servedPath + ` { stub_status; }
	}
}
`

// startNginx starts nginx on the CPUs, in a new directory in dir, and returns when it listens
// for the load.
func startNginx(ctx context.Context, cpus []int, dir string, l load) (*server, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/nginx") // which is only on root's PATH
	}
	if err != nil {
		return nil, fmt.Errorf("the row needs nginx: %w", err)
	}
	if dir, err = os.MkdirTemp(dir, "nginx-"); err != nil {
		return nil, fmt.Errorf("make nginx's directory: %w", err)
	}
	free, err := freeAddresses(3)
	if err != nil {
		return nil, err
	}
	secure, clear, status := free[0], free[1], free[2]
	loaded, url := secure, "https://"+secure+"/"
	if !l.tls {
		loaded, url = clear, "http://"+clear+"/"
	}
	if l.content != sameContent {
		loaded, url = status, "http://"+status+contentPath // the others are HTTP/2
	}
	processes, alone := "master_process off;", len(cpus) <= 1 // only then is its CPU time known
	if !alone {
		processes = fmt.Sprintf("worker_processes %d;", len(cpus))
	}
	conf := fmt.Sprintf(nginxConf, processes, secure, clear, status, contentBody)
	if err := errors.Join(writeCertificate(dir),
		os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o600)); err != nil {
		return nil, fmt.Errorf("write nginx's configuration: %w", err)
	}
	s := &server{cmd: exec.CommandContext(ctx, path, "-e", "stderr", "-p", dir, "-c", "nginx.conf"),
		base: "http://" + status, url: url, singleProcess: alone, parseCount: parseStubStatus}
	return s, s.startListening(ctx, cpus, loaded, status) // it listens at one after the other
}

// awaitListening waits until something listens at an address.
func (s *server) awaitListening(ctx context.Context, addr string) error {
	var dialer net.Dialer
	for end := time.Now().Add(startTimeout); time.Now().Before(end); {
		c, err := dialer.DialContext(ctx, "tcp", addr)
		if err == nil {
			return c.Close()
		}
		select {
		case err := <-s.exited:
			return fmt.Errorf("nginx ended: %v: %s", err, firstLine(s.stderr.Bytes()))
		case <-time.After(10 * time.Millisecond):
		}
	}
	return errors.Join(fmt.Errorf("nginx did not listen within %v", startTimeout), s.stopServer())
}

// freeAddresses returns addresses at which nobody listens.
func freeAddresses(count int) ([]string, error) {
	var free []string
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer l.Close() // when all are found, so that they differ
		free = append(free, l.Addr().String())
	}
	return free, nil
}

// writeCertificate writes a certificate for 127.0.0.1, of the kind most sites have today,
// and its key.
func writeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour),
		NotAfter: now.Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&block), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// parseStubStatus returns how many requests nginx has seen, without the asked queries of its
// status.
func parseStubStatus(page []byte, asked int) (float64, error) {
	const before = "server accepts handled requests\n"
	_, numbers, found := bytes.Cut(page, []byte(before))
	var accepts, handled, requests float64
	if n, _ := fmt.Sscan(string(numbers), &accepts, &handled, &requests); !found || n < 3 {
		return 0, fmt.Errorf("%q is not nginx's stub_status", firstLine(page))
	}
	return requests - float64(asked), nil
}
