// Package attack has those who wish dyno ill, as programs: its tests start dyno as a user would,
// with an attacker beside it, and look at what the attacker got. Each counts what was tried, so
// that a test in which nothing was attacked fails.
//
// To see an attack work, point a test at a dyno that knows no defence:
//
//	DYNO_E2E_BINARY=/path/to/an/old/dyno go test -run Neighbour ./e2e/attack
package attack
