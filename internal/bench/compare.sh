#!/usr/bin/env bash
# Compares benchserver with its peers in JSON-RPC and MCP, and writes the tables of docs/performance.md.
#
#   BIN=folder PARTS="clen line mcp http startup" internal/bench/compare.sh [results folder]
#
# BIN holds the load driver (rpcload) and the peers that are built elsewhere; those that are missing are left out. ROUNDS (5) and DUR (500ms) can be set.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${BIN:?set BIN to the folder with the load driver}"
out=${1:-$(mktemp -d)} rounds=${ROUNDS:-5} dur=${DUR:-500ms}
mkdir -p "$out"
go build -o "$out/tandem" ./internal/benchserver

servers=()
add() { # name, program that must be there, its arguments
  local name=$1 program=$2
  shift 2
  case $program in
  node) if [ -e "$1" ]; then servers+=(-s "$name=node $*"); fi ;;
  *) if [ -e "$program" ]; then servers+=(-s "$name=$program $*"); fi ;;
  esac
}
compare() { # title, arguments
  local title=$1
  shift
  "$BIN/rpcload" compare -rounds "$rounds" -d "$dur" -title "$title" -table "$out/$part.md" -out "$out/$part.jsonl" "$@" "${servers[@]}"
}

for part in ${PARTS:-clen line mcp http startup}; do
  rm -f "$out/$part.md" "$out/$part.jsonl"
  servers=()
  case $part in
  clen | line)
    other=header flag="-framing clen"
    if [ $part = line ]; then other=line flag=""; fi
    add "go.lsp.dev/jsonrpc2 1.0.1" "$BIN/golsp1" $flag
    add "the same, AsyncHandler in CancelHandler" "$BIN/golsp1" $flag -async cancel
    add "tandem" "$out/tandem" -framing $other
    if [ $part = clen ]; then add "x/exp/jsonrpc2" "$BIN/xexp"; fi
    add "sourcegraph/jsonrpc2" "$BIN/sourcegraph" $flag
    add "jrpc2" "$BIN/jrpc2" $flag
    if [ $part = clen ]; then add "vscode-jsonrpc (node)" node "$BIN/../node/vscode-jsonrpc/server.mjs"; fi
    for preset in small medium; do
      for w in 1 16 256; do compare "JSON-RPC echo, $part, $preset, window $w" -framing $part -proto jsonrpc -preset $preset -w $w; done
    done
    for w in 1 16; do compare "JSON-RPC echo, $part, large (1 MiB), window $w" -framing $part -proto jsonrpc -preset large -warm 50 -w $w; done
    ;;
  mcp)
    add "floor" "$BIN/floor" -proto mcp
    add "tandem" "$out/tandem" -proto mcp
    add "mcp-go 1.2.1" "$BIN/mcpgo"
    add "go-sdk 1.8.0" "$BIN/gosdk"
    add "TS SDK 1.32.2 (node)" node "$BIN/../node/mcp-ts/server.mjs"
    for preset in small medium; do
      for w in 1 16 256; do compare "MCP stdio tools/call echo, $preset, window $w" -framing line -proto mcp -preset $preset -w $w; done
    done
    for w in 1 16; do compare "MCP stdio tools/call echo, large (1 MiB), window $w" -framing line -proto mcp -preset large -warm 30 -w $w; done
    ;;
  http)
    at="-http 127.0.0.1:{port}"
    add "floor, net/http" "$BIN/floor" $at
    add "tandem" "$out/tandem" -proto mcp $at
    add "mcp-go 1.2.1" "$BIN/mcpgo" $at
    add "go-sdk 1.8.0" "$BIN/gosdk" $at
    for c in 1 16 256; do compare "MCP over HTTP, small, $c connections" -mode http -preset small -warm 1000 -c $c; done
    for c in 1 16; do compare "MCP over HTTP, medium, $c connections" -mode http -preset medium -warm 1000 -c $c; done
    compare "MCP over HTTP, large (1 MiB), 4 connections" -mode http -preset large -warm 30 -c 4
    ;;
  startup)
    add "floor" "$BIN/floor" -proto mcp
    add "tandem" "$out/tandem" -proto mcp
    add "mcp-go 1.2.1" "$BIN/mcpgo"
    add "go-sdk 1.8.0" "$BIN/gosdk"
    compare "Start to the first answer, MCP on standard input and output" -mode startup -proto mcp
    ;;
  *)
    echo "no part $part" >&2
    exit 2
    ;;
  esac
done
