# The C++ examples of one document, for a translation unit: awk -v document=NAME -v number=N -f blocks.awk FILE
# The number tells the blocks of several documents in one unit apart.
#
# An example is a ```cpp block of a Markdown file, or lines "///     code" of a header. Each becomes the body of a
# function of its own; one with a line that cannot stand in a function (int main, namespace, template) becomes a
# namespace. #line makes the compiler complain about the document itself. A comment before a block leaves it out:
# <!-- compile: no, REASON -->, or <!-- from: PATH --> (regions.awk), because it is compiled where it comes from.

function flush_block(    i, line, at_namespace) {
  if (!collecting) return
  collecting = 0
  ++blocks
  for (i = 1; i <= size; ++i) {
    if (code[i] ~ /^(int main\(|namespace |template)/) at_namespace = 1
    if (code[i] !~ /^#include /) continue
    printf "#line %d \"%s\"\n%s\n", first + i - 1, document, code[i]
    code[i] = ""
  }
  if (at_namespace) printf "namespace block_%d_%d {\n", number, first
  else printf "struct Block_%d_%d : Scene { void code() { {\n", number, first
  printf "#line %d \"%s\"\n", first, document
  for (i = 1; i <= size; ++i) print code[i]
  print at_namespace ? "}" : "} } };"
}

function refuse(why) { printf "#line %d \"%s\"\n#error \"%s\"\n", FNR, document, why }

function start_block(line) {
  collecting = 1
  first = line
  size = 0
}

BEGIN { header = document ~ /\.hpp$/ }

header && match($0, /^ *\/\/\/     /) {
  if (!collecting) start_block(FNR)
  code[++size] = substr($0, RLENGTH + 1)
  next
}
header { flush_block(); next }

/^```/ && fenced { flush_block(); fenced = 0; mark = ""; next }
/^```/ {
  fenced = 1
  if (/^```cpp *$/ && mark !~ /^(from: |compile: no, )./) start_block(FNR + 1)
  next
}
fenced { if (collecting) code[++size] = $0; next }
/^<!--.*-->$/ {
  mark = $0
  sub(/^<!-- */, "", mark)
  sub(/ *-->$/, "", mark)
  if (mark ~ /^compile: no/ && mark !~ /^compile: no, ./) refuse("write the reason: <!-- compile: no, REASON -->")
  next
}
/^ +```/ { refuse("begin a code block in the first column") }
NF { mark = "" }

END {
  flush_block()
  print "// " document ": " blocks + 0
}
