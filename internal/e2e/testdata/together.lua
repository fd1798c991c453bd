-- together.lua: Neovim opens a note of E2E_FOLDER with the language server of E2E_SERVER, which also serves an agent. What happens then is up to
-- together.mjs, which sends keys and asks.

local scratch = os.getenv("E2E_SCRATCH")

vim.cmd("edit " .. vim.fn.fnameescape(os.getenv("E2E_FOLDER") .. "/index.md"))
local id = vim.lsp.start_client({
  name = "notes",
  -- The shell writes down what the server says and its exit code, which the end of Neovim outruns.
  cmd = {
    "/bin/sh", "-c", [["$@" 2>"$0/stderr"; echo $? >"$0/status"]], scratch,
    os.getenv("E2E_SERVER"), "--stdio", "-mcp", "127.0.0.1:0", "-mcp", "unix:" .. scratch .. "/mcp.sock",
  },
  root_dir = os.getenv("E2E_FOLDER"),
  flags = { exit_timeout = 60000 },
})
vim.lsp.buf_attach_client(0, id)

-- state writes down what the person sees.
function _G.state()
  local text = vim.fn.json_encode({
    lines = vim.api.nvim_buf_get_lines(0, 0, -1, false),
    diagnostics = vim.tbl_map(function(d) return d.message end, vim.diagnostic.get(0)),
    ready = (vim.lsp.get_client_by_id(id) or {}).initialized == true,
    modified = vim.bo.modified,
  })
  vim.fn.writefile({ text }, scratch .. "/state.json")
  return ""
end
