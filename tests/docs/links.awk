# The relative links of one Markdown file, one a line: LINE, tab, TARGET. Code is no link.

/^```/ { fenced = !fenced }
fenced { next }
{
  rest = $0
  gsub(/`[^`]*`/, "", rest)
  while (match(rest, /\]\([^) ]*\)/)) {
    target = substr(rest, RSTART + 2, RLENGTH - 3)
    rest = substr(rest, RSTART + RLENGTH)
    if (target !~ /^[a-z]+:/) print FNR "\t" target
  }
}
