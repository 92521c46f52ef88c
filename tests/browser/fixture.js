'use strict';
/* Results files made by hand: a plain one with every kind of verdict, a hostile one, a large one. */
const fs = require('node:fs');

const environment = (system) => ({
    host: 'a'.repeat(32), date_utc: '2026-12-01T04:10:19Z', load: [0.1, 0.2, 0.3],
    cpu: {model: 'Test CPU', architecture: 'x86_64', sockets: 1, cores: 2, threads: 2, caches: [],
        governor: 'performance', turbo: false, affinity: '0-1', limit: null},
    memory: {total_bytes: 8589934592, page_bytes: 4096, transparent_hugepages: 'madvise'},
    os: {name: 'Test OS 1', kernel: system, release: '6.1', build: '#1', clock_source: 'tsc',
        mitigations: 'none', io_uring_disabled: 0},
    virtualisation: {hypervisor: false, hypervisor_id: null, platform: null, container: null, wsl: false},
    limits: {nofile_soft: 20000, nofile_hard: 20000, memlock_soft_bytes: 8388608, memlock_hard_bytes: 8388608},
    network: {somaxconn: 4096, local_port_range: [32768, 60999], tcp_congestion_control: 'cubic',
        tcp_rmem: [4096, 131072, 6291456], tcp_wmem: [4096, 16384, 4194304]},
    build: {version: '0.1.0', commit: 'c'.repeat(40), branch: 'main', dirty: false, type: 'Release',
        compiler: 'GNU 12.2.0', flags: '-O2', sanitizer: null, cmake: '3.25.1'},
    libraries: {libc: 'glibc 2.36', liburing: '2.3', liburing_running: null, jansson: '2.14',
        jansson_running: '2.14', benchmark: '1.7.1'}});

/* A number in 0..1 that is the same in every run. */
function spread(...parts) {
    let hash = 2166136261;
    for (const character of parts.join('/')) {
        hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
    }
    hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
    return ((hash ^ (hash >>> 13)) >>> 0) / 4294967296;
}

function latency(meanNs, buckets, key) {
    const histogram = [];
    for (let i = 0; i < buckets; i++) {
        const value = Math.round(meanNs * (0.7 + 0.6 * i / buckets) + i);
        histogram.push([value, 1 + Math.floor(1000 * spread(key, i))]);
    }
    const at = (share) => histogram[Math.min(buckets - 1, Math.floor(share * buckets))][0];
    return {mean_ns: meanNs, min_ns: histogram[0][0], p50_ns: at(0.5), p90_ns: at(0.9), p95_ns: at(0.95),
        p99_ns: at(0.99), p999_ns: at(0.999), max_ns: histogram[buckets - 1][0], histogram};
}

/* run: backends, cases and more of the run record. metric(case, backend, iteration) is a number, or
 * what is wrong: {status, reason}. */
function write(path, run, metric, {buckets = 5, system = 'Linux', end = true} = {}) {
    const record = {record: 'run', schema: 1, id: 'f1', label: '', iterations: 7, duration_s: 0.4, warmup_s: 0.05,
        timeout_s: 20, seed: '5', interleaved: true, baseline_index: 0, environment: environment(system), ...run};
    const lines = [JSON.stringify(record)];
    record.cases.forEach((which, caseIndex) => record.backends.forEach((backend, backendIndex) => {
        for (let iteration = 0; iteration < record.iterations; iteration++) {
            const value = metric(caseIndex, backendIndex, iteration);
            const sample = {record: 'sample', run: record.id, case: which.name, backend: backend.spec,
                case_index: caseIndex, backend_index: backendIndex, iteration, reason: null, warning: null, status: 'ok'};
            if (value === undefined) {
                continue;
            }
            if (typeof value === 'object') {
                Object.assign(sample, value);
            } else {
                Object.assign(sample, {metric: value, elapsed_s: 0.4, operations: 1000, bytes: 64000,
                    drained_operations: 0, drained_bytes: 0, cpu_user_s: 0.1, cpu_system_s: 0.2,
                    rss_peak_bytes: 4e6, rss_bytes: 4e6, voluntary_switches: 1, involuntary_switches: 2,
                    latency: latency(20000, buckets, [caseIndex, backendIndex, iteration].join()),
                    counters: {syscalls: {send: 2000, recv: 2000}, waits: 10, wakeups: 0, speculative_hits: 1,
                        speculative_misses: 1, overflows: 0}});
            }
            lines.push(JSON.stringify(sample));
        }
    }));
    if (end) {
        lines.push(JSON.stringify({record: 'end', run: record.id, samples: lines.length - 1}));
    }
    fs.writeFileSync(path, `${lines.join('\n')}\n`);
}

const backend = (spec, more = {}) => ({spec, title: `${spec} title`, settings: 'order two_phase', unavailable: null, aa: false, floor: false, ...more});
const oneCase = (family, name, more = {}) => ({name: `${family}/${name}`, family, operation: 'one thing done',
    unit: 'ops/s', higher_is_better: true, micro: false, split: false, ...more});

/* Baseline, a faster one, one within noise, a slower one, a floor, and the baseline again; a case
 * that fails, one that is skipped, one unstable; ratios from 0.4 to 15. */
function plain(path, system = 'Linux') {
    const cases = [...Array(24).keys()].map((i) => oneCase('fan_out', `fork_join/${i}`))
        .concat([0, 1, 2].map((i) => oneCase('socket_latency', `pingpong/${i}`, {unit: 'ns', higher_is_better: false})),
            [oneCase('split', 'fan_out/1', {split: true}), oneCase('timer', 'oneshot', {micro: true})]);
    const backends = [backend('base'), backend('fast:key=1'), backend('noisy'), backend('slow'),
        backend('bare', {floor: true}), backend('base', {aa: true})];
    const factors = [1, 1.4, 1.02, 0.8, 1.5, 1.001], noise = [0.01, 0.01, 0.2, 0.02, 0.01, 0.01];
    write(path, {backends, cases, label: 'sample'}, (c, b, i) => {
        if (c === 1 && b === 1 && i === 3) {
            return {status: 'failed', reason: 'the worker was killed by SIGSEGV'};
        }
        if (c === 2 && b === 3) {
            return i === 0 ? {status: 'skipped', reason: 'it needs 101 ports'} : undefined;
        }
        const jump = c === 3 && b === 2 && i % 2 ? 3 : 1;
        const wide = c === 4 ? [1, 15, 1, 0.4, 1, 1][b] : 1;
        const factor = factors[b] * jump * wide * (1 + noise[b] * (spread(c, b, i) - 0.5));
        return cases[c].higher_is_better ? 5e4 * factor : 2e4 / factor;
    }, {system});
}

const HOSTILE = [
    '<script>window.hacked=1</script>', '<img src=x onerror=window.hacked=1>', '</script><script>window.hacked=1//',
    '</title></svg><svg onload=window.hacked=1>', '"\' onmouseover="window.hacked=1', ']]> --> <!--',
    'a|b |=== \\| c', '++x++ +y+ `z` *b* _i_ #m# ^s^ ~t~', '{asciidoctor-version} {author} {set:x:y}',
    'image::x[] include::/etc/passwd[] xref:a[b] link:http://example.com[x] stem:[x]', '<<x,y>> [[anchor]] footnote:[f]',
    '**bold** [link](javascript:alert(1)) ![p](http://example.com/p.png) @user #1 ~~s~~', '&lt;b&gt; &amp; &#60;',
    '__proto__', 'constructor', '----', '====', '....', "it''s `+a+` pass:[<b>]", 'é 漢字 \u{1f600}', '=cmd()', 'x'.repeat(240)];

/* The same everywhere that a text can stand. */
function hostile(path) {
    const cases = HOSTILE.map((text, i) => ({...oneCase('f', 'n'), name: `${text.slice(0, 240)}/${i}`, family: text,
        operation: text, split: i % 5 === 3, micro: i % 5 === 4}));
    const backends = HOSTILE.slice(0, 6).map((text) => backend(text, {title: text, settings: text}))
        .concat(backend('gone', {unavailable: HOSTILE[6]}));
    const record = environment(HOSTILE[0]);
    record.cpu.model = HOSTILE[2];
    record.os.name = HOSTILE[7];
    record.build.compiler = HOSTILE[9];
    record.libraries[HOSTILE[1]] = HOSTILE[8];
    write(path, {backends, cases, label: HOSTILE[11], environment: record}, (c, b, i) => {
        if (b === 6) {
            return undefined;
        }
        if (i === 2 && c % 3 === 1) {
            return {status: 'failed', reason: HOSTILE[c]};
        }
        return 1000 * (1 + b / 5 + 0.01 * spread(c, b, i));
    });
}

/* As large as a whole run of eight backends. */
function large(path) {
    const cases = [...Array(113).keys()].map((i) => oneCase(['accept_churn', 'fan_out', 'http_server', 'socket_latency',
        'socket_throughput', 'local_socket_latency', 'local_socket_throughput'][i % 7], `case/${i}`));
    write(path, {backends: [...Array(8).keys()].map((i) => backend(`backend_${i}`)), cases},
        (c, b, i) => 5e4 * (1 + b / 10) * (1 + 0.03 * spread(c, b, i)), {buckets: 120});
}

/* Ratios from 1e-9 to 1e9, and latencies between two round numbers. */
function extreme(path) {
    const cases = [...Array(5).keys()].map((i) => oneCase(i % 2 ? 'rates' : 'times', `case/${i}`,
        i % 2 ? {} : {unit: 'ns', higher_is_better: false}));
    write(path, {backends: ['base:with=a,name=that,is=long', 'best', 'worst\u202e\u202e\u202e'].map((spec) => backend(spec)), cases},
        (c, b, i) => [1, 1e9, 1e-9][b] * (1 + 0.01 * spread(c, b, i)));
}

module.exports = {plain, extreme, hostile, large, HOSTILE};

if (require.main === module) {
    module.exports[process.argv[2]](process.argv[3]);
}
