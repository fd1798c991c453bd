#!/usr/bin/env bash
# Compares the language server of benchserver with its peers, and prints the tables of docs/performance.md.
#
#   BIN=folder internal/bench/lsp.sh [results folder]
#
# BIN holds the load driver (rpcload) and the peers that are built elsewhere: floor, glsp and golspproto (go.lsp.dev/protocol 0.12.0), and in
# node/vscode-ls the server for Node. Those that are missing are left out. ROUNDS (5) and DUR (1s) can be set.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${BIN:?set BIN to the folder with the load driver}"
out=${1:-$(mktemp -d)} rounds=${ROUNDS:-5} dur=${DUR:-1s}
mkdir -p "$out"
go build -o "$out/tandem" ./internal/benchserver
(cd internal/bench/golsp && go build -o "$out/golsp" .)

floor=(-s "floor=$BIN/floor -framing clen -proto lsp") ours=(-s "tandem=$out/tandem -proto lsp -framing header")
serial=(-s "go.lsp.dev/protocol 1.0.1, serial=$out/golsp -serial") shipped=(-s "go.lsp.dev/protocol 1.0.1=$out/golsp")
others=()
add() { if [ -e "$1" ]; then others+=(-s "$2"); fi; }
add "$BIN/golspproto" "go.lsp.dev/protocol 0.12.0=$BIN/golspproto"
add "$BIN/glsp" "glsp 0.2.2=$BIN/glsp"
add "$BIN/node/vscode-ls/server.mjs" "vscode-languageserver (node)=node $BIN/node/vscode-ls/server.mjs --stdio"

rm -f "$out"/lsp.*
compare() { # title, arguments
  local title=$1
  shift
  "$BIN/rpcload" compare -rounds "$rounds" -d "$dur" -title "$title" -table "$out/lsp.md" -out "$out/lsp.jsonl" -framing clen -proto lsp "$@"
}
for w in 1 16 256; do
  compare "Hover, window $w" -preset hover -w $w "${floor[@]}" "${ours[@]}" "${shipped[@]}" "${serial[@]}" "${others[@]}"
done
for w in 1 16 256; do
  compare "Completion, 1000 items, window $w" -preset list -warm 150 -w $w "${floor[@]}" "${ours[@]}" "${shipped[@]}" "${serial[@]}" "${others[@]}"
done
for w in 1 16; do # as shipped it mixes up edits and fails the check of the text
  compare "20 didChange and a hover, window $w" -preset didchange -warm 300 -w $w "${floor[@]}" "${ours[@]}" "${serial[@]}" "${others[@]}"
done
