#!/bin/sh
# The reports on files (MPICH_MPIIO_STATS, _TIMERS, _HINTS, _HINTS_DISPLAY, _AGGREGATOR_PLACEMENT_DISPLAY): every line, on stderr of
# rank 0 alone, with the numbers that strace sees.
# run.py: timeout=100 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
build=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
file=$dir/data
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" # strace and the leak checker both want to trace
fail() { echo "$*"; head -n 60 "$dir/err"; exit 1; }
run() { timeout 60 "$@" > "$dir/out" 2> "$dir/err" || fail "failed: $*"; }
field() { sed -n "/MPIIO $1 access/,/^+/s/^|   $2  *= //p" "$dir/err"; }
is() { [ "$(field "$1" "$2")" = "$3" ] || fail "$1: $2 is $(field "$1" "$2"), not $3"; }

# Nothing is printed unless it is asked for.
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
[ ! -s "$dir/err" ] || fail "printed without being asked"

export MPICH_MPIIO_STATS=1
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
[ ! -s "$dir/out" ] || fail "something went to stdout"
bar() { echo "+--------------------------------------------------------+"; }
# block read|write readers|writers: the lines in their order, and after them what is given
block() {
    what=$1 who=$2
    shift 2
    bar
    echo "| MPIIO $what access patterns for $file"
    for label in "independent ${what}s" "collective ${what}s" "independent $who" aggregators "stripe count" "stripe size" \
        "system ${what}s" "stripe sized ${what}s"; do printf '|   %-23s = N\n' "$label"; done
    printf '|   %-23s = N,N,N,N (N, <= N, > N, N)\n' "aggregators active"
    printf '|   %-23s = N = N MiB = N GiB\n' "total bytes for ${what}s"
    printf '|   %-23s = N\n' "ave system $what size" "$@" "number of $what gaps" "ave $what gap size"
}
{
    block write writers "read-modify-write count" "read-modify-write bytes"
    echo "| advice: data were read to write them back (sieving), under locks: collective calls or hint romio_ds_write=disable avoid it"
    bar
    block read readers
    bar
} > "$dir/golden"
sed "/^|   /s/[0-9][0-9]*/N/g" "$dir/err" | diff "$dir/golden" - || fail "the block is another"
is write 'independent writes' 13
is write 'collective writes' 4
is write 'independent writers' 4
is write 'aggregators' 4
is write 'aggregators active' '0,0,0,4 (1, <= 2, > 2, 4)'
is write 'read-modify-write count' 1
is write 'read-modify-write bytes' $((19 * 400 + 100))
is read 'independent reads' 3
is read 'collective reads' 4
is read 'independent readers' 1
total=$((12 * 1000 + 4 * 50000 + 19 * 400 + 100))
is write 'total bytes for writes' "$total = 0 MiB = 0 GiB"
# 12 short ones, 4 of aggregators, of 52 KiB from 1 MiB on each, and a sieved one, of 7700 bytes with what lies between its pieces.  Each rank
# leaves a gap before the second kind, rank 0 before the third; of reads rank 0 alone has read before: the sieved ones begin where it was.
sieved=$((19 * 400 + 100)) domain=$((52 << 10)) mib=$((1 << 20))
is write 'system writes' 17
is write 'ave system write size' $((total / 17))
is write 'number of write gaps' 5
is write 'ave write gap size' $(((4 * mib + 6 * domain - 3000 * (1 + 2 + 3 + 4) + domain) / 5))
is write 'stripe sized writes' 0
is read 'system reads' 8
is read 'ave system read size' $(((2 * 500 + 4 * 50000 + 2 * sieved) / 8))
is read 'number of read gaps' 4
is read 'ave read gap size' $(((1000 + mib - 2500 + domain + sieved) / 4))
# Between nodes aggregators, two of them, write what comes by messages; without them each rank writes its 500 pieces.
run "$build/mpiexec" -n 4 --vnodes 2 "$build/mpi_io_report" "$file"
is write 'aggregators' 2
is write 'system writes' 15
is read 'system reads' 6
export MPICH_MPIIO_HINTS="*:romio_cb_write=disable"
for nodes in 4 2; do
    run "$build/mpiexec" -n 4 --vnodes $nodes "$build/mpi_io_report" "$file"
    is write 'system writes' 2013
    is write 'aggregators active' "0,0,0,0 (1, <= $((nodes / 2)), > $((nodes / 2)), $nodes)"
done
grep -q "^| advice: collective writes of small pieces went without aggregators: hint romio_cb_write=enable" "$dir/err" || fail "no advice for writes without aggregators"
export MPICH_MPIIO_HINTS="*:striping_unit=1000"
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
is write 'stripe size' 1000
is write 'stripe sized writes' 12
# Pieces of at most cb_buffer_size: 13 of 16 KiB; between nodes of each aggregator's part, on four nodes 3 * 4 + 3, on two 7 + 6.
export MPICH_MPIIO_HINTS="*:cb_buffer_size=16384"
for nodes in 1,26 4,28 2,26; do
    run "$build/mpiexec" -n 4 --vnodes ${nodes%,*} "$build/mpi_io_report" "$file"
    is write 'system writes' ${nodes#*,}
done
# The sieved write, 7700 bytes, by 4 KiB: without the 300 bytes between the two parts, to which no piece reaches.
export MPICH_MPIIO_HINTS="*:ind_wr_buffer_size=4096"
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
is write 'system writes' 18
is write 'read-modify-write count' 2
is write 'read-modify-write bytes' 7400
# So are reads: those before it, and then without the 300 bytes.
export MPICH_MPIIO_HINTS="*:ind_rd_buffer_size=4096"
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
is read 'system reads' 9
bytes=$((2 * 500 + 4 * 50000 + sieved + 7400))
is read 'total bytes for reads' "$bytes = 0 MiB = 0 GiB"
# As many as there are pieces where nothing is sieved.
export MPICH_MPIIO_HINTS="*:romio_ds_read=disable"
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
is read 'system reads' 27
unset MPICH_MPIIO_HINTS
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"

if command -v strace > /dev/null && strace -o /dev/null true 2> /dev/null; then
    run strace -f -y -e trace=pwrite64,pwritev,pwritev2,pread64,preadv,preadv2,write,read -o "$dir/calls" \
        "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
    for verb in write read; do # lines that were cut in two by another process are counted by their end, which has the result
        sed -n "s/^\([0-9]*\) *p*${verb}[v264]*([0-9]*<\([^>]*\)>.*) = \([0-9]*\)$/\2 \3/p; t; s/^\([0-9]*\) *<... p*${verb}[v264]* resumed>.*/cut/p" \
            "$dir/calls" | grep -F "$file " > "$dir/seen" || :
        cut=$(grep -c "^[0-9]* *p*${verb}[v264]*([0-9]*<$file>.*unfinished" "$dir/calls" || :)
        seen=$(($(wc -l < "$dir/seen") + cut))
        [ "$seen" -gt 0 ] || fail "strace saw no ${verb}s"
        is $verb "system ${verb}s" "$seen"
        [ "$cut" -gt 0 ] || [ "$(awk '{n += $2} END {print n}' "$dir/seen")" = "$(field $verb "total bytes for ${verb}s" | sed 's/ .*//')" ] ||
            fail "the bytes of ${verb}s are not those that strace saw"
    done
else
    echo "note: without strace"
fi

# Over time: a file for each rank, whose sums are those of the block.
(
    cd "$dir"
    export MPICH_MPIIO_STATS=2 MPICH_MPIIO_STATS_FILE=over_time MPICH_MPIIO_STATS_INTERVAL_MSEC=1
    run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
    [ ! -s "$dir/err" ] || fail "MPIIO_STATS=2 printed something"
    [ "$(echo over_time.*.csv)" = "over_time.0.csv over_time.1.csv over_time.2.csv over_time.3.csv" ] || fail "not four files"
    for i in 0 1 2 3; do
        [ "$(sed -n 1p over_time.$i.csv)" = "file,start_ms,writes,bytes_written,reads,bytes_read" ] || fail "over_time.$i.csv has another head"
        sed 1d over_time.$i.csv | grep -qvE "^\"$file\",[0-9]+,[0-9]+,[0-9]+,[0-9]+,[0-9]+$" && fail "over_time.$i.csv has another row"
    done
    cat over_time.*.csv | awk -F, -v total=$total '$2 ~ /^[0-9]/ { w += $3; bytes += $4; r += $6 }
        END { exit !(bytes == total && w >= 14 && r >= 201000) }' || fail "the files have other sums"
)

# The tool adds them up, and refuses what is none of them.
"$build/cray_mpiio_summary" "$dir/over_time" > "$dir/sums" || fail "cray_mpiio_summary failed"
sum() { sed -n "s/^|   $1  *= //p" "$dir/sums"; }
grep -qxF "| MPIIO access over time for $file" "$dir/sums" || fail "the summary has another head"
[ "$(sum ranks)" = 4 ] || fail "the summary has $(sum ranks) ranks"
[ "$(sum 'total bytes for writes')" = "$total = 0 MiB = 0 GiB" ] || fail "the summary has other bytes: $(sum 'total bytes for writes')"
for way in 3,writes 5,reads; do
    [ "$(cat "$dir"/over_time.*.csv | awk -F, -v k=${way%,*} '$2 ~ /^[0-9]/ { n += $k } END { print n }')" = "$(sum "system ${way#*,}")" ] ||
        fail "the summary has other ${way#*,}: $(sum "system ${way#*,}")"
done
printf 'file,start_ms,writes,bytes_written,reads,bytes_read\n"a""b, c",0,2,8,0,0\n"a""b, c",250,1,10,0,0\n' > "$dir/two.0.csv"
printf 'file,start_ms,writes,bytes_written,reads,bytes_read\n"a""b, c",0,1,7,1,5\n' > "$dir/two.1.csv"
"$build/cray_mpiio_summary" "$dir/two" > "$dir/sums"
bar > "$dir/golden"
cat >> "$dir/golden" <<EOF
| MPIIO access over time for a"b, c
|   ranks                   = 2
|   from, to                = 0, 250 ms
|   system writes           = 4
|   total bytes for writes  = 25 = 0 MiB = 0 GiB
|   ave system write size   = 6
|   most in one interval    = 15 bytes, from 0 ms on
|   system reads            = 1
|   total bytes for reads   = 5 = 0 MiB = 0 GiB
|   ave system read size    = 5
|   most in one interval    = 5 bytes, from 0 ms on
EOF
bar >> "$dir/golden"
diff "$dir/golden" "$dir/sums" || fail "the summary is another"
echo '"a",1,2,3,4' >> "$dir/two.1.csv"
"$build/cray_mpiio_summary" "$dir/two.1.csv" 2> "$dir/err" && fail "a row that is none was taken"
grep -qF "$dir/two.1.csv:3 is no row" "$dir/err" || fail "not told which row is none"
"$build/cray_mpiio_summary" "$dir/none" 2> "$dir/err" && fail "files that are not there were taken"
grep -qF "there is no file $dir/none.*.csv" "$dir/err" || fail "not told that there are no files"

# Times: phases that make up the whole.
unset MPICH_MPIIO_STATS
export MPICH_MPIIO_TIMERS=1
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
[ "$(grep -c 'MPIIO .* by phases, all ranks, for' "$dir/err")" = 2 ] || fail "not two blocks of times"
for row in 'number of ranks writing' 'number of ranks not writing' 'time scale: 1 = 2\*\*' total imbalance open/close/trunc 'local compute' \
    'wait for coll' collective exchange/write 'data send' 'file write' other 'data send BW' 'raw write BW' 'net write BW'; do
    sed '/MPIIO read/,$d' "$dir/err" | grep -q "^|  *$row" || fail "no row $row"
done
sed -n '/MPIIO write/,/MPIIO read/p' "$dir/err" | awk '
    /open.close.trunc|local compute|wait for coll|collective|exchange.write|other/ { sum += $NF }
    / file write / { file = $(NF - 2) }
    / number of ranks writing/ { writing = $NF }
    END { exit !(sum > 98.9 && sum < 101.1 && file > 0 && writing == 4) }' || fail "the phases are not the whole"
unset MPICH_MPIIO_TIMERS

# Hints from outside come before those of the program; the first pattern that fits counts.
export MPICH_MPIIO_HINTS="*.other:cb_nodes=1,$dir/*:cb_nodes=3:romio_ds_write=disable:overstriping_factor=2:cb_config_list=#*:2,x:1#,*:cb_nodes=1"
export MPICH_MPIIO_HINTS_DISPLAY=1 MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY=1 MPICH_MPIIO_STATS=1
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
cat > "$dir/golden" <<EOF
Aggregator Placement for $file
RankReorderMethod=1  AggPlacementStride=-1
 AGG    Rank       nid
 ----  ------  --------
    0       0  $(uname -n)
    1       2  $(uname -n)
PE 0: MPIIO hints for $file:
          ind_rd_buffer_size       = 4194304
          ind_wr_buffer_size       = 524288
          cb_buffer_size           = 16777216
          cb_nodes                 = 2
          cray_cb_nodes_multiplier = 1
          romio_cb_read            = automatic
          romio_cb_write           = automatic
          romio_ds_read            = automatic
          romio_ds_write           = disable
          romio_no_indep_rw        = false
          direct_io                = false
          cb_config_list           = *:2,x:1
          overstriping_factor      is of no effect here: a file has as many stripes as striping_factor says
          aggregator_placement_stride = -1
EOF
sed '/^+---/,$d' "$dir/err" | diff "$dir/golden" - || fail "hints or placement are others"
grep -q 'warning.*HINTS' "$dir/err" && fail "right hints are told"
is write 'aggregators' 2
is write 'read-modify-write count' 0

# What is no hint is told by the rank that reads it, once, for whichever files it is.
hints() {
    MPICH_MPIIO_HINTS=$1 MPICH_MPIIO_HINTS_DISPLAY=0 MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY=0 run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
    [ "$(grep -c 'warning: MPICH_MPIIO_HINTS: ' "$dir/err")" = 1 ] || { cat "$dir/err"; fail "MPICH_MPIIO_HINTS=$1: not one warning"; }
    grep -q -- "warning: MPICH_MPIIO_HINTS: $2" "$dir/err" || { cat "$dir/err"; fail "MPICH_MPIIO_HINTS=$1: not $2"; }
}
hints '*:cb_nodse=2' 'files have no hint cb_nodse; did you mean cb_nodes?'
hints 'no.such:romio_cb_wirte=enable,*:cb_nodes=2' 'files have no hint romio_cb_wirte; did you mean romio_cb_write?'
hints '*:entirely_another=1' 'files have no hint entirely_another (MPICH_MPIIO_HINTS_DISPLAY=1 shows'
hints '*:cb_nodes' '"cb_nodes" is no key=value'
hints '*,x:cb_nodes=1' '"\*" has no hints: an entry is pattern:key=value'
hints '*:cb_buffer_size=16M' 'cb_buffer_size=16M is left out: the value is not a number of bytes, from 1 on, without a unit'
hints '*:cb_nodes=0' 'cb_nodes=0 is left out: the value is not a number from 1 on'
hints '*:romio_ds_write=off' 'romio_ds_write=off is left out: the value is not automatic, enable or disable'
hints '*:direct_io=1' 'direct_io=1 is left out: the value is not true, enable, false or disable'
hints '*:access_style=sequental' 'access_style=sequental is left out: the value is not of the words'
hints '*:cb_config_list=#x:#' 'cb_config_list=x: is left out: the value is not a list'
export MPICH_MPIIO_AGGREGATOR_PLACEMENT_STRIDE=1 MPICH_MPIIO_HINTS='*:cb_nodes=3'
run "$build/mpiexec" -n 4 "$build/mpi_io_report" "$file"
[ "$(sed -n '/^ ----/,/^PE/s/^ *[0-9]  *\([0-9]\) .*/\1/p' "$dir/err" | tr '\n' ' ')" = "0 1 2 " ] || fail "not consecutive aggregators"
