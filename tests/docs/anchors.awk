# The anchors of one Markdown file, one a line, made from its headings as code hosts make them.

/^```/ { fenced = !fenced }
!fenced && /^#+ / {
  anchor = tolower($0)
  sub(/^#+ +/, "", anchor)
  gsub(/[^a-z0-9 _-]/, "", anchor)
  gsub(/ /, "-", anchor)
  print anchor
}
