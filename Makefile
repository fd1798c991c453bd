# Targets for work on Tandem. `make` or `make help` lists them.
# CONTRIBUTING.md says what each check is for; .ci/run runs them all.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 20s
PKG         ?= ./...
VECTORS     ?=

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build every package
	go build ./...

.PHONY: test
test: ## run the tests (PKG=./jsonrpc2 for one package)
	go test -timeout 10m $(PKG)

.PHONY: race
race: ## run the tests under the race detector
	go test -race -timeout 20m $(PKG)

.PHONY: poison
poison: ## run the tests with released frames overwritten
	go test -tags poison -timeout 10m $(PKG)

.PHONY: fuzz
fuzz: ## run every fuzz target of PKG for FUZZTIME each
	@for p in $$(go list $(PKG)); do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

.PHONY: bench
bench: ## run the benchmarks of PKG
	go test -run '^$$' -bench . -benchmem $(PKG)

.PHONY: vectors
vectors: ## run the wire vectors (VECTORS=FILE for a file of your own)
	go test -count=1 -v ./internal/vectors $(if $(VECTORS),-vectors=$(abspath $(VECTORS)))

.PHONY: clients
clients: ## install the npm clients of the end-to-end tests
	cd internal/e2e && npm ci
	cd internal/e2e/vscode && npm ci --ignore-scripts && npm run workbench
	cd cmd/demo-lsp/vscode && npm ci --ignore-scripts

.PHONY: e2e
e2e: ## drive real clients against the demos (make clients first)
	go test -count=1 -v -timeout 10m ./internal/e2e

.PHONY: try
try: ## run both demos on their embedded samples
	go run ./cmd/demo-mcp -try
	go run ./cmd/demo-lsp -try

.PHONY: fmt
fmt: ## rewrite the Go files with gofmt
	gofmt -w $$(git ls-files '*.go')

.PHONY: lint
lint: ## gofmt check, go vet and staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$bad" || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...

.PHONY: cross
cross: ## build and vet for Windows and macOS
	GOOS=windows go build ./... && GOOS=windows go vet ./...
	GOOS=darwin go build ./... && GOOS=darwin go vet ./...

.PHONY: ci
ci: ## run everything the way CI does (installs Debian packages: needs root)
	CI=true bash .ci/run </dev/null

.PHONY: clean
clean: ## remove the npm clients and the test cache
	rm -rf internal/e2e/node_modules bin
	go clean -testcache
