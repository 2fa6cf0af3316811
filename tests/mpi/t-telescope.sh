# SPDX-License-Identifier: BSD-3-Clause
# Compressors and formats with feedback over 1000 steps: later steps send all that
# earlier ones left out; the log has the residual; INF and NaN harm nothing.
. "$top_srcdir/tests/mpi/run.sh"

# policy STEPS: a layer, a matrix of 33 x 37, for each line of standard input,
# and an epoch of STEPS steps, after which all residuals are sent
policy()
{
    layers=0
    echo 'layer,name,count,shape' >"$tmp/layers.csv"
    {
        printf 'version: 1\nmin_count: 1\ntable: layers.csv\n'
        echo "steps: {per_epoch: $1}"
        echo "log: {file: $tmp/log.csv, every: ${every:-1000000}}"
        echo 'rules:'
        while read -r rule; do
            echo "$layers,l$layers,1221,33x37" >>"$tmp/layers.csv"
            echo "  - {epochs: 0, layers: $layers, $rule}"
            layers=$((layers + 1))
        done
        echo '  - {compress: {topk: 1}}'
    } >"$tmp/policy.yaml"
    rm -f "$tmp/log.csv"
}

# telescope RANKS WHAT STEPS
telescope()
{
    ranks=$1 what=$2 steps=$3
    run "$ranks ranks, $what" "$ranks" \
        -genv APSMPI_POLICY "$tmp/policy.yaml" \
        "$mpi/telescope" "$what" "$layers" "$steps" "$tmp/residuals"
}

cat >"$tmp/own" <<'EOF2'
format: e5m2, scale: aps, feedback: on
format: e4m3, scale: aps-tight, feedback: on
format: bfp7/64, feedback: on
format: bfp3/576, feedback: on
format: mx-e4m3fn, feedback: on
format: nvfp4, feedback: on
format: e3m0, feedback: on
format: e3m0, scale: aps, feedback: on
format: sign/64, feedback: on
format: int4/64, feedback: on
compress: {mstopk: 0.05}
reduce: gather, format: e4m3, compress: {mstopk: 0.05}
compress: {topk: 0.02}
reduce: direct, compress: {topk: 0.02}
compress: {threshold: {value: 1.5, density: 0.2}}
feedback: on, compress: {ternary: 0}
feedback: on, reduce: gather, compress: {ternary: 2.5}
feedback: on, reduce: hierarchical, group: 2, compress: {ternary: 0}
EOF2
cat >"$tmp/drawn" <<'EOF2'
format: e4m3, rounding: stochastic, feedback: on
format: e4m3, rounding: correlated, feedback: on
format: qsgd7/512, feedback: on
reduce: direct, format: e4m3, compress: {mstopk: 0.05}
EOF2
cat >"$tmp/mean" <<'EOF2'
compress: {powersgd: {rank: 2, min_ratio: 1}}
compress: {powersgd: {rank: 2, min_ratio: 1, warm: off}}
format: bf16, scale: none, compress: {powersgd: {rank: 3, min_ratio: 1}}
format: e4m3, scale: aps, reduce: ring, compress: {powersgd: {rank: 1, min_ratio: 1}}
compress: {mstopk+powersgd: {rank: 2, density: 0.3, min_ratio: 1}}
EOF2
cat "$tmp/own" "$tmp/drawn" "$tmp/mean" >"$tmp/all"

for ranks in 1 2 3 4; do
    policy 1000 <"$tmp/all"
    telescope $ranks sum 1000
done

# Exponents that are agreed for the values also suit the owners' sums.
cat >"$tmp/agreed" <<'EOF'
format: e5m2, scale: aps, feedback: on
format: e4m3, scale: aps, feedback: on
format: e3m0, scale: aps, feedback: on
EOF
for ranks in 2 3; do
    policy 1000 <"$tmp/agreed"
    telescope $ranks shrink 40
done

# --- the log -------------------------------------------------------------------

# The residuals that the program prints equal those of the log, to 5 digits. If the
# program knows them only by differences of sums, small ones are not compared.
residuals_agree()
{
    awk -F, '
        FNR == NR { split($0, told, " ")
                    wanted[told[1] * 100 + told[2]] = told[3]; next }
        /^time,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        /^#/ { next }
        { key = $at["step"] * 100 + $at["layer"]
          off = $at["residual"] - wanted[key]
          if (!(key in wanted) || $at["residual"] == "" ||
              (off < 0 ? -off : off) > 1e-5 * wanted[key] + 1e-6)
              print "step " $at["step"] ", layer " $at["layer"] ": residual " \
                  $at["residual"] ", not " wanted[key]
          rows++; delete wanted[key] }
        END { for (key in wanted) missing++
              if (missing || !rows) print rows " rows, missing " missing }' \
        "$tmp/residuals" "$tmp/log.csv" >"$tmp/differences"
    sed 's/^/# /' "$tmp/differences" | head -n 5 >&2
    [ ! -s "$tmp/differences" ]
}

every=1
for ranks in 2 3; do
    for what in own mean; do
        policy 40 <"$tmp/$what"
        telescope $ranks $what 40
        residuals_agree
        check $? "$ranks ranks, $what: the log has the residual of every call"
    done
done
every=1000000

# --- instruction sets ---------------------------------------------------------

# bits_by CPU CPU CPU: of three ranks; sets $bits
bits_by()
{
    policy 15 <"$tmp/all"
    run_mpiexec "$*" -genv APSMPI_POLICY "$tmp/policy.yaml" \
        -n 1 -env APSMPI_CPU "$1" "$mpi/telescope" bits "$layers" 15 : \
        -n 1 -env APSMPI_CPU "$2" "$mpi/telescope" bits "$layers" 15 : \
        -n 1 -env APSMPI_CPU "$3" "$mpi/telescope" bits "$layers" 15
    bits=$(sed -n 's/^# bits //p' "$tmp/stdout" "$tmp/stderr")
}

bits_by plain plain plain
plain=$bits
while read -r first second third; do
    bits_by "$first" "$second" "$third"
    [ -n "$plain" ] && [ "$bits" = "$plain" ]
    check $? "$first $second $third: the bits of plain loops"
done <<END
avx2 avx2 avx2
avx512 avx512 avx512
plain avx2 avx512
END
finish
