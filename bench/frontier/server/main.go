//go:build linux

// Command server answers GET with 13 bytes, in one of two ways: with net/http, or, with -wait, with
// a loop that waits on purpose. Such a loop sleeps, and then answers all that has arrived
// meanwhile. It needs less CPU time per request, because it wakes up less often, and each request
// waits longer.
package main

import (
	"bytes"
	"flag"
	"log"
	"net"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// answer is what a request gets.
const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
	"Content-Length: 13\r\n\r\nHello, world\n"

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "address")
	wait := flag.Duration("wait", 0, "how long a loop waits for more requests; 0: net/http")
	flag.Parse()
	if *wait == 0 {
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Date"] = nil
			w.Header().Set("Content-Type", "text/plain")
			w.Write([]byte("Hello, world\n"))
		})
		log.Fatal(http.ListenAndServe(*listen, nil))
	}
	l, err := net.Listen("tcp", *listen)
	if err == nil {
		err = serveBatches(l.(*net.TCPListener), *wait)
	}
	log.Fatal(err)
}

// serveBatches answers, after each wait, the requests that have arrived.
func serveBatches(l *net.TCPListener, wait time.Duration) error {
	f, err := l.File()
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		return err
	}
	door := int(f.Fd())
	watch := func(fd int) error {
		return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd,
			&unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
	if err := watch(door); err != nil {
		return err
	}
	events, buffer := make([]unix.EpollEvent, 1024), make([]byte, 64<<10)
	for {
		time.Sleep(wait)
		n, err := unix.EpollWait(poll, events, 0)
		if err != nil && err != unix.EINTR {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			if fd := int(e.Fd); fd != door {
				answerAll(fd, buffer)
				continue
			}
			if fd, _, err := unix.Accept4(door, unix.SOCK_NONBLOCK); err == nil {
				if err := watch(fd); err != nil {
					return err
				}
			}
		}
	}
}

// answerAll answers the requests that a connection has sent. A request of this benchmark arrives in
// one piece.
func answerAll(fd int, buffer []byte) {
	n, err := unix.Read(fd, buffer)
	if n <= 0 && err != unix.EAGAIN {
		unix.Close(fd)
		return
	}
	requests := bytes.Count(buffer[:max(n, 0)], []byte("\r\n\r\n"))
	if requests > 0 { // if the peer is gone, the next read closes the connection
		unix.Write(fd, bytes.Repeat([]byte(answer), requests))
	}
}
