#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make html: no link leads nowhere, the search finds sections, and the commands of the
# tutorial work. Chromium, if there is one, leaves pictures at two widths in
# tests/e2e/site/ of the build directory.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

command -v mandoc >mandoc || skip_all 'there is no mandoc'
timed env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
    ${MAKE:-make} -C "$top_builddir" html
check 'make html' status_is 0
site=$top_builddir/html
for page in "$top_srcdir"/scripts/*.1 "$top_srcdir"/src/*/*.[15]; do
    page=$(basename "$page").html
    check "$page is in it" test -s "$site/$page"
    check '... and in the index' has "$site/index.html" "href=\"$page\""
done
timed "$PYTHON3" "$top_srcdir/tests/e2e/site_check.py" "$site"
check 'links were checked' grep ' links of ' out
check '... and none leads nowhere' not has out 'leads nowhere'

# --- in a browser -------------------------------------------------------------

browser=$(command -v chromium || command -v chromium-browser || :)
if [ "$browser" ]; then
    browser="$browser --headless --no-sandbox --disable-gpu --hide-scrollbars
        --user-data-dir=$tmp/browser"
    pictures=$top_builddir/tests/e2e/site
    mkdir -p "$pictures"
    for width in 1200 420; do
        for page in index tutorial apsmpi-run.1; do
            # shellcheck disable=SC2086 # a list of words
            timed $browser --window-size=$width,1400 \
                --screenshot="$pictures/$page-$width.png" "file://$site/$page.html"
            check "a picture of $page, $width pixels wide" \
                test -s "$pictures/$page-$width.png"
        done
    done
    cp "$site"/*.js .
    cat "$site/index.html" - >search.html <<END
<script>
field.value = "--print-env apptainer";
field.dispatchEvent(new Event("input"));
</script>
END
    # shellcheck disable=SC2086
    timed $browser --dump-dom "file://$tmp/search.html"
    check 'the search finds an option' has out \
        '<a href="apsmpi-run.1.html#DESCRIPTION">apsmpi-run.1: DESCRIPTION</a>'
else
    skip 'pictures and the search' 'there is no Chromium'
fi

# --- the tutorial -------------------------------------------------------------

if ! "$PYTHON3" -c 'import numpy, mpi4py, matplotlib' 2>import.err; then
    skip 'the commands of the tutorial' 'no numpy, mpi4py or matplotlib'
    finish
fi
# pre CLASS: prints the text of the tutorial's blocks of that class
pre()
{
    awk -v begin="<pre class=\"$1\">" '
        index($0, begin) == 1 { on = 1; $0 = substr($0, length(begin) + 1) }
        on { last = sub("</pre>", ""); print; on = !last }' \
        "$top_srcdir/config/site/tutorial.html"
}
# stub NAME WORD...: an installed command, which is WORD... here
stub()
{
    name=$1
    shift
    printf '#!/bin/sh\nexec %s "$@"\n' "$*" >bin/"$name"
    chmod +x bin/"$name"
}
mkdir bin
stub apsmpi "$apsmpi"
stub apsmpi-run "$top_builddir/scripts/apsmpi-run"
stub apsmpi-report "$PYTHON3 $report"
stub python3 "$PYTHON3"
stub mpiexec "$launch"
cp "$top_srcdir"/tests/apps/digits.* .
pre policy >policy.yaml
pre commands >commands
check 'the tutorial has commands' test "$(wc -l <commands)" -ge 6
while read -r line; do
    PATH=$tmp/bin:$PATH timed sh -c "$line"
    check "the tutorial's command: $line" status_is 0
    case $line in
    *--shadow*) check '... measures formats' test -s shadow.csv ;;
    apsmpi-run*) check '... rewrites the calls' has err ' rewritten (' ;;
    *suggest*) check '... writes a policy' has out 'format:' ;;
    esac
done <commands
check 'the report is a page' has report.html '<html'
finish
