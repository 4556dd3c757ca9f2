// Package e2e tests dyno as a user meets it: the program, from its command line
// to its last line, against real servers and against broken ones.
//
// It has four parts. The counts of dyno and of the server must agree, however a
// run ends (count_test.go). Real servers must get along with dyno, each with its
// own habit of closing connections (real_test.go, nginx_test.go, h2servers_test.go,
// protocol_*_test.go, fcgi_test.go). Bad servers, and machines without files or
// ports to spare, must lead to a message that says what is wrong, word for word,
// and never to a hang (bad_test.go). What needs a network that does not work is
// tried in a network namespace without one (netns_test.go), so that no packet
// leaves the machine.
//
// Real servers are the distribution's packages, which install.sh installs; a
// test that misses its server is skipped and says which package has it.
package e2e
