# The two commands of the README are `make demo` and `make test`.
GO      ?= go
FUZZ    ?= 60s

.PHONY: build demo test deps lab-deps bench fuzz vet clean

build: ## ./dyno
	$(GO) build -o dyno .

demo: build ## load the built-in server for five seconds and print the report
	@bench/demo.sh ./dyno

deps: ## what the tests need besides Go: servers and peers, from Debian's packages
	@e2e/install.sh

lab-deps: ## the servers of the experiments that ship with dyno; starts none
	@experiment/deps.sh

test: deps ## the whole suite, with the race detector
	$(GO) test -race -timeout 15m $(TESTFLAGS) ./...

fuzz: ## every fuzz target for FUZZ each
	@bench/fuzz.sh $(FUZZ)

vet: ## all platforms
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

bench: build ## dyno beside its peers; see docs/benchmarks.md
	$(GO) run ./bench -dyno ./dyno $(ARGS)

clean:
	rm -f dyno dyno.exe
