// Package mcphttp serves MCP by streamable HTTP.
package mcphttp
