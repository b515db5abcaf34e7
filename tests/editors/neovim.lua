-- Reads a listing with Neovim's LSP client: diagnostics, a hover, a definition, a lens.
-- Run with the Lua of docs/editors.md as `-u`, in a folder with .venv and .fxdap/graphs/net.fxgraph.
-- Prints one line for each answer.
local function say(...) io.stdout:write(string.format(...), "\n") end
local function wait_until(what, ready)
  if not vim.wait(60000, ready, 20) then
    say("timeout: %s", what)
    os.exit(1)
  end
end

vim.cmd.edit(".fxdap/graphs/net.fxgraph")
say("filetype %s", vim.bo.filetype)
wait_until("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
for _, found in ipairs(vim.diagnostic.get(0)) do say("diagnostic %s", found.message) end

vim.api.nvim_win_set_cursor(0, { 4, (vim.fn.getline(4):find("%%relu")) })
local here = vim.lsp.util.make_position_params(0, "utf-16")
local function ask(method, params)
  for _, each in pairs(vim.lsp.buf_request_sync(0, method, params, 60000)) do return each.result end
end
say("hover %s", vim.split(ask("textDocument/hover", here).contents.value, "\n")[1])
say("definition %s", vim.trim(vim.fn.getline(ask("textDocument/definition", here).range.start.line + 1)))
say("lens %s", ask("textDocument/codeLens", { textDocument = here.textDocument })[1].command.title)
