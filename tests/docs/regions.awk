# Blocks that claim to be cut from a file are: awk -v document=NAME -f regions.awk FILE, from the root of the tree.
# The claim is a comment before the block, <!-- from: PATH -->. The lines must stand in PATH one after the other, all
# indented by the same number of spaces more.

function complain(text) {
  printf "%s:%d: %s\n", document, first, text
  failed = 1
}

function check_block(    i, k, at, indent, text, got, source, count, found) {
  ++blocks
  while ((got = (getline text < path)) > 0) source[++count] = text
  close(path)
  if (got < 0) return complain("there is no file " path)
  for (i = 1; i + size - 1 <= count && !found; ++i) {
    at = index(source[i], code[1])
    if (at == 0) continue
    indent = substr(source[i], 1, at - 1)
    if (indent !~ /^ *$/) continue
    found = 1
    for (k = 1; k <= size; ++k) {
      if (source[i + k - 1] != (code[k] == "" ? "" : indent code[k])) found = 0
    }
  }
  if (!found) complain("the block is not in " path " as it stands here")
}

/^<!-- from: .* -->$/ { path = $3; next }
/^```/ && fenced { if (path != "") check_block(); fenced = 0; path = ""; next }
/^```/ { fenced = 1; first = FNR + 1; size = 0; next }
fenced { code[++size] = $0; next }
NF { path = "" }

END {
  print document ": " blocks + 0 " cut from files"
  exit failed
}
