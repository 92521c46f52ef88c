'use strict';
/* What an HTML page does beyond being read: filters, sorting, another baseline, raw points and
 * percentile curves. All figures and words come from the page's data; nothing is computed here but
 * where things go. */
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const controls = element('form', {'aria-label': 'What is shown'});
const SVG = 'http://www.w3.org/2000/svg';
/* Edges of a plot in percent; the same as in chart_axis.c. */
const LEFT = 2, RIGHT = 98;

const state = {baseline: data.baseline, family: '', hidden: new Set(), verdicts: new Set(), points: false};

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value !== false) {
            made.setAttribute(key, value === true ? '' : value);
        }
    }
    made.append(...children);
    return made;
}

function drawn(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
        made.setAttribute(key, value);
    }
    return made;
}

/* The baseline's comparison, and the candidate of each implementation in it. */
const against = () => data.against[state.baseline];
const laneOf = (who) => against().lanes.indexOf(who);

/* A candidate's cell; undefined for the baseline, and for a second copy of another one. */
function cellOf(who, caseIndex) {
    const lane = laneOf(who);
    if (lane >= 0) {
        return against().cells[lane][caseIndex];
    }
    return data.implementations[who].aa && against().copy ? against().copy[caseIndex] : undefined;
}

/* ---- tables ---- */

const caseRows = all('table.cases tbody tr').map((row) => ({
    row, caseIndex: +row.dataset.case, who: +row.dataset.who,
    family: data.cases[+row.dataset.case].family, cells: row.cells}));

/* Columns of a case's table, by their titles. */
const titles = all('table.cases')[0] ? all('thead th', all('table.cases')[0]).map((th) => th.textContent) : [];
const [DIFFERENCE, VERDICT, PAIRED] = ['vs base', 'verdict', 'paired ratio'].map((title) => titles.indexOf(title));

function showCaseRow(entry) {
    const cell = cellOf(entry.who, entry.caseIndex);
    const texts = entry.who === state.baseline ? ['', 'baseline', ''] :
        cell ? [cell[1], data.verdicts[cell[0]].word, cell[2]] : ['-', 'not compared', '-'];
    entry.verdict = entry.who === state.baseline ? 'baseline' : texts[1];
    entry.cells[DIFFERENCE].textContent = texts[0];
    entry.cells[VERDICT].textContent = texts[1];
    entry.cells[PAIRED].textContent = texts[2];
}

/* Rows of the summary table keep their places: the row of a candidate that became the baseline is
 * given to the former one. */
function showSummaryRow(row, lane) {
    const table = row.dataset.family !== undefined ? against().families[lane][+row.dataset.family]
        : against().sections[lane][+row.dataset.section];
    row.cells[1].replaceChildren(element('code', {}, data.implementations[against().lanes[lane]].name));
    table.forEach((text, i) => {
        row.cells[2 + i].textContent = text;
    });
    row.hidden = state.hidden.has(against().lanes[lane]) ||
        (state.family !== '' && row.dataset.family !== state.family);
}

function showSummary() {
    const groups = new Map();
    for (const row of all('table.families tbody tr')) {
        const group = `${row.dataset.family}/${row.dataset.section}`;
        groups.set(group, (groups.get(group) ?? -1) + 1);
        showSummaryRow(row, groups.get(group));
    }
}

/* What a column of a case's table is sorted by. */
function keyOf(entry, title) {
    if (title in data.columns) {
        return data.figures[entry.who][entry.caseIndex][data.columns[title]];
    }
    const cell = cellOf(entry.who, entry.caseIndex);
    switch (title) {
    case 'case':
        return entry.caseIndex;
    case 'implementation':
        return data.implementations[entry.who].name;
    case 'verdict':
        return entry.verdict;
    case 'vs base':
        return entry.who === state.baseline ? 0 : cell ? cell[3] : null;
    default: /* paired ratio */
        return cell && cell[2] !== '-' ? parseFloat(cell[2]) : null;
    }
}

function compareKeys(a, b) {
    return typeof a === 'string' || typeof b === 'string' ? String(a).localeCompare(String(b), 'en') : a - b;
}

function sortTable(table, title, descending) {
    const body = table.tBodies[0];
    const entries = caseRows.filter((entry) => body.contains(entry.row));
    const keyed = entries.map((entry) => [keyOf(entry, title), entry]);
    /* What is not known stays at the end, whichever way; equal ones stay in page order. */
    keyed.sort(([a, x], [b, y]) => (a === null) - (b === null) ||
        (a === null ? 0 : (descending ? -1 : 1) * compareKeys(a, b)) ||
        caseRows.indexOf(x) - caseRows.indexOf(y));
    body.append(...keyed.map(([, entry]) => entry.row));
    for (const th of all('thead th', table)) {
        const own = th.textContent === title;
        th.setAttribute('aria-sort', own ? (descending ? 'descending' : 'ascending') : 'none');
    }
}

/* What another baseline moved goes to its new place. */
function sortAgain() {
    for (const table of all('table.cases')) {
        const by = all('thead th', table).find((th) => th.getAttribute('aria-sort') !== 'none');
        if (by) {
            sortTable(table, by.textContent, by.getAttribute('aria-sort') === 'descending');
        }
    }
}

function makeSortable(table) {
    for (const th of all('thead th', table)) {
        const title = th.textContent;
        const button = element('button', {type: 'button', class: 'sort'}, title);
        th.setAttribute('aria-sort', 'none');
        th.replaceChildren(button);
        button.addEventListener('click', () =>
            sortTable(table, title, th.getAttribute('aria-sort') === 'ascending'));
    }
}

/* ---- charts ---- */

function placeOf(axis, ratio) {
    const at = (Math.log10(ratio) - axis.low) / (axis.high - axis.low);
    return LEFT + Math.min(Math.max(at, 0), 1) * (RIGHT - LEFT);
}

const percent = (value) => `${value.toFixed(2)}%`;

function showTicks(svg, axis) {
    const group = svg.querySelector('.ticks');
    const model = group.firstElementChild;
    group.replaceChildren(...axis.ticks.map(([x, times, difference]) => {
        const tick = model.cloneNode(true);
        tick.setAttribute('class', times === '1×' ? 'tick one' : 'tick');
        tick.setAttribute('x', percent(x));
        all('text', tick).forEach((text, i) => {
            text.textContent = i % 2 === 0 ? times : difference;
        });
        return tick;
    }));
}

function showPoints(lane, axis, who, caseIndex) {
    const bases = data.points[state.baseline][caseIndex];
    data.points[who][caseIndex].forEach((value, i) => {
        if (value && bases[i]) {
            const ratio = data.cases[caseIndex].higher ? value / bases[i] : bases[i] / value;
            lane.append(drawn('circle', {class: `p c${data.implementations[who].colour}`, r: 2.2, cy: 5,
                cx: percent(placeOf(axis, ratio))}));
        }
    });
}

function hintOf(who, caseIndex, cell) {
    const median = (i) => rowOf(i, caseIndex).cells[2].textContent;
    const spread = (i) => rowOf(i, caseIndex).cells[3].textContent;
    const side = (i) => `${data.implementations[i].name} ${median(i)}, CV ${spread(i)}`;
    const {name, operation} = data.cases[caseIndex];
    return `${name}${operation ? ` (${operation})` : ''}: ${side(who)}; ${side(state.baseline)}; ${cell[1]}, ` +
        `${data.verdicts[cell[0]].word}; paired ratio ${cell[2]}`;
}

const rowIndex = new Map(caseRows.map((entry) => [`${entry.who}/${entry.caseIndex}`, entry.row]));
const rowOf = (who, caseIndex) => rowIndex.get(`${who}/${caseIndex}`);

function showLane(lane, axis) {
    const caseIndex = +lane.dataset.case, place = +lane.dataset.lane;
    const who = against().lanes[place], cell = against().cells[place][caseIndex];
    const [verdict, , , , ratio, low, high, bandLow, bandHigh] = cell;
    const colour = `c${data.implementations[who].colour}`;
    const title = lane.querySelector('title');
    title.textContent = hintOf(who, caseIndex, cell);
    lane.replaceChildren(title);
    if (bandLow !== null) {
        const from = placeOf(axis, bandLow), to = bandHigh === null ? RIGHT : placeOf(axis, bandHigh);
        lane.append(drawn('rect', {class: 'b', x: percent(from), width: percent(to - from), height: 11}));
    }
    if (low !== null) {
        lane.append(drawn('line', {class: `i ${colour}`, x1: percent(placeOf(axis, low)),
            x2: percent(placeOf(axis, high)), y1: 5, y2: 5}));
    }
    if (ratio !== null) {
        const mark = drawn('svg', {class: `m ${colour} ${data.verdicts[verdict].look}`,
            x: percent(placeOf(axis, ratio)), y: 5, overflow: 'visible'});
        mark.append(drawn('path', {d: data.implementations[who].shape}));
        lane.append(mark);
    } else {
        const text = drawn('text', {class: 'x', x: '2%', y: 10});
        text.textContent = `✕ ${data.verdicts[verdict].word}`;
        lane.append(text);
    }
    if (state.points && ratio !== null) {
        showPoints(lane, axis, who, caseIndex);
    }
    const wanted = state.verdicts.size === 0 || state.verdicts.has(data.verdicts[verdict].word);
    lane.style.display = state.hidden.has(who) || !wanted ? 'none' : '';
}

/* The line of a legend that names a candidate: its mark is followed by its name. */
function showLegend(svg) {
    all('.legend > svg', svg).forEach((mark, lane) => {
        showCandidate(mark, mark.nextElementSibling, against().lanes[lane], LINE);
    });
}

/* Places of a name on a chart, as in chart.h. */
const [LINE, AXIS, BAR] = [0, 1, 2];

function showCandidate(mark, text, who, where) {
    mark.setAttribute('class', `m c${data.implementations[who].colour} f`);
    mark.firstElementChild.setAttribute('d', data.implementations[who].shape);
    text.textContent = data.implementations[who].cut[where];
}

function showRatios(svg, index) {
    const axis = against().axes[index];
    showTicks(svg, axis);
    showLegend(svg);
    svg.querySelector('.baseline').textContent = data.implementations[state.baseline].cut[AXIS];
    all('.lane', svg).forEach((lane) => showLane(lane, axis));
}

function showBars(svg) {
    svg.querySelector('.median.axis').textContent =
        `median difference from ${data.implementations[state.baseline].cut[AXIS]}`;
    for (const bar of all('.bar', svg)) {
        const lane = +bar.dataset.lane, family = +bar.dataset.family, who = against().lanes[lane];
        const parts = against().bars[lane][family];
        const name = bar.querySelector('.who');
        if (name) {
            showCandidate(bar.querySelector('.m'), name, who, BAR);
        }
        all('rect', bar).forEach((rect, i) => {
            rect.setAttribute('x', percent(parts[i][0]));
            rect.setAttribute('width', percent(parts[i][1]));
        });
        all('.n', bar).forEach((text, i) => {
            text.setAttribute('x', percent(parts[i][0] + parts[i][1] / 2));
            text.textContent = parts[i][2];
        });
        bar.querySelector('.median').textContent = against().families[lane][family].at(-1);
        bar.style.display = state.hidden.has(who) ? 'none' : '';
    }
}

function showCharts() {
    data.charts.forEach((chart, index) => {
        const svg = document.getElementById(`chart-${chart.id}`);
        svg.querySelector('desc').textContent = against().descriptions[index];
        if (index === 0) {
            showBars(svg);
        } else {
            showRatios(svg, index);
        }
    });
}

/* ---- answers ---- */

const answerLists = all('ul.answers');

function showAnswers() {
    const sections = [...(against().answers[0] ?? []).keys()].filter((section) => against().answers[0][section] !== null);
    answerLists.forEach((list, i) => {
        const section = sections[i];
        all('li', list).forEach((item, lane) => {
            const who = against().lanes[lane];
            item.replaceChildren(element('code', {}, data.implementations[who].name), `: ${against().answers[lane][section]}`);
        });
    });
}

/* ---- filters ---- */

function showRows() {
    let shown = 0;
    for (const entry of caseRows) {
        const wanted = !state.hidden.has(entry.who) &&
            (state.verdicts.size === 0 || state.verdicts.has(entry.verdict));
        entry.row.hidden = !wanted;
        shown += wanted && (state.family === '' || String(entry.family) === state.family);
    }
    data.families.forEach((family, index) => {
        document.getElementById(family.id)
            .closest('section').hidden =
            state.family !== '' && state.family !== String(index);
    });
    controls.querySelector('output').textContent = `${shown} of ${caseRows.length} rows shown`;
}

function show() {
    caseRows.forEach(showCaseRow);
    sortAgain();
    showAnswers();
    showSummary();
    if (data.charts.length > 0) {
        showCharts();
    }
    showRows();
}

/* ---- percentile curves ---- */

const dialog = element('dialog', {'aria-labelledby': 'curve-title'});

/* A logarithmic axis of times: whole decades around all values. */
function timeAxis(curves) {
    const values = curves.flatMap((curve) => curve[0]).filter((value) => value > 0);
    return {low: Math.log10(Math.min(...values)), high: Math.log10(Math.max(...values) * 1.02)};
}

/* Round times on the axis; where there are not two, its ends. */
function timeTicks(axis) {
    const steps = axis.high - axis.low > 1.2 ? [1] : [1, 2, 5], ticks = [];
    for (let power = Math.floor(axis.low); power <= axis.high; power++) {
        ticks.push(...steps.map((step) => step * 10 ** power));
    }
    const inside = ticks.filter((ns) => Math.log10(ns) >= axis.low && Math.log10(ns) <= axis.high);
    return inside.length > 1 ? inside : [10 ** axis.low, 10 ** axis.high];
}

function timeText(ns) {
    const units = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]];
    const [unit, scale] = units.find(([, size]) => ns >= size) ?? units[3];
    return `${+(ns / scale).toPrecision(3)} ${unit}`;
}

function drawCurves(caseIndex, whos) {
    const labels = data.curve.labels, curves = whos.map((who) => data.curve.values[who][caseIndex]);
    const axis = timeAxis(curves), height = 284, bottom = 250, left = 16, right = 94;
    const x = (i) => left + (right - left) * i / (labels.length - 1);
    const y = (ns) => bottom - (bottom - 14) * (Math.log10(Math.max(ns, 1)) - axis.low) / Math.max(axis.high - axis.low, 1e-9);
    const svg = drawn('svg', {class: 'chart curves', width: '100%', height, role: 'img',
        'aria-label': `Latency by percentile, ${data.cases[caseIndex].name}; the table below has the same figures`});
    for (const ns of timeTicks(axis)) {
        const at = y(ns), tick = drawn('g', {class: 'tick'}), text = drawn('text', {x: `${left - 1}%`, y: at + 4, class: 'time'});
        text.textContent = timeText(ns);
        tick.append(drawn('line', {x1: `${left}%`, x2: `${right}%`, y1: at, y2: at}), text);
        svg.append(tick);
    }
    labels.forEach((label, i) => {
        const tick = drawn('g', {class: 'tick'}), text = drawn('text', {x: percent(x(i)), y: bottom + (i % 2 ? 28 : 15)});
        text.textContent = label;
        tick.append(text);
        svg.append(tick);
    });
    whos.forEach((who, k) => {
        const colour = `c${data.implementations[who].colour}`, values = curves[k][0];
        values.forEach((ns, i) => {
            if (i > 0) {
                svg.append(drawn('line', {class: `i ${colour}`, x1: percent(x(i - 1)), x2: percent(x(i)), y1: y(values[i - 1]), y2: y(ns)}));
            }
            const mark = drawn('svg', {class: `m ${colour} f`, x: percent(x(i)), y: y(ns), overflow: 'visible'});
            mark.append(drawn('path', {d: data.implementations[who].shape}));
            svg.append(mark);
        });
    });
    return svg;
}

function curveTable(caseIndex, whos) {
    const head = element('tr', {}, element('th', {scope: 'col'}, 'implementation'),
        ...data.curve.labels.map((label) => element('th', {scope: 'col', class: 'n'}, label)));
    const rows = whos.map((who) => {
        const key = drawn('svg', {class: 'chart key-mark', width: 14, height: 14, 'aria-hidden': 'true'});
        const mark = drawn('svg', {class: `m c${data.implementations[who].colour} f`, x: 7, y: 7, overflow: 'visible'});
        mark.append(drawn('path', {d: data.implementations[who].shape}));
        key.append(mark);
        return element('tr', {}, element('th', {scope: 'row'}, key, element('code', {}, data.implementations[who].name)),
            ...data.curve.values[who][caseIndex][1].map((text) => element('td', {class: 'n'}, text)));
    });
    return element('section', {class: 'scroll', tabindex: '0', 'aria-label': 'Percentiles'},
        element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)));
}

function showCurves(caseIndex) {
    const whos = data.implementations.map((_, who) => who)
        .filter((who) => !state.hidden.has(who) && data.curve.values[who][caseIndex]);
    const closer = element('button', {type: 'button', autofocus: true}, 'Close');
    closer.addEventListener('click', () => dialog.close());
    dialog.replaceChildren(
        element('h2', {id: 'curve-title'}, 'Latency by percentile: ', element('code', {}, data.cases[caseIndex].name)),
        element('p', {}, `${data.cases[caseIndex].operation}. All good samples pooled; the time axis is logarithmic, lower is better.`),
        ...(whos.length > 0 ? [drawCurves(caseIndex, whos), curveTable(caseIndex, whos)]
            : [element('p', {}, 'No latencies are known for this case.')]),
        closer);
    dialog.showModal();
}

function offerCurves() {
    document.body.append(dialog);
    for (const entry of caseRows) {
        if (entry.who === data.baseline && data.curve.values[entry.who][entry.caseIndex]) {
            const button = element('button', {type: 'button', class: 'curve',
                'aria-label': `Latency by percentile of ${data.cases[entry.caseIndex].name}`}, 'percentiles');
            button.addEventListener('click', () => showCurves(entry.caseIndex));
            entry.cells[0].append(' ', button);
        }
    }
}

/* ---- controls ---- */

function choice(label, options, change) {
    const select = element('select', {}, ...options.map(([value, text, chosen]) =>
        element('option', {value, selected: chosen === true}, text)));
    select.addEventListener('change', () => {
        change(select.value);
        show();
    });
    return element('label', {}, `${label} `, select);
}

function boxes(legend, names, isChecked, change) {
    return element('fieldset', {}, element('legend', {}, legend), ...names.map(([value, text]) => {
        const box = element('input', {type: 'checkbox', checked: isChecked(value)});
        box.addEventListener('change', () => {
            change(value, box.checked);
            show();
        });
        return element('label', {}, box, ` ${text}`);
    }));
}

function toggle(set, value, present) {
    if (present) {
        set.add(value);
    } else {
        set.delete(value);
    }
}

/* Every word that the verdict of a row can be, whichever the baseline. */
function verdictWords() {
    const comparisons = data.against.filter((one) => one);
    const seen = new Set(comparisons.flatMap((one) => [...one.cells, one.copy ?? []]).flat().map((cell) => cell[0]));
    const copied = comparisons.length > 1 && comparisons.some((one) => one.copy);
    return [...data.verdicts.filter((_, verdict) => seen.has(verdict)).map((verdict) => verdict.word),
        'baseline', ...(copied ? ['not compared'] : [])];
}

function makeControls() {
    const words = verdictWords();
    const names = data.implementations.map((implementation, who) => [who, implementation.name]);
    controls.replaceChildren(
        choice('Baseline', names.filter(([who]) => data.against[who]).map(([who, name]) => [who, name, who === data.baseline]),
            (value) => { state.baseline = +value; }),
        choice('Family', [['', 'all', true], ...data.families.map((family, i) => [i, family.name])],
            (value) => { state.family = value; }),
        boxes('Implementations', names, () => true, (who, on) => toggle(state.hidden, who, !on)),
        boxes('Only these verdicts', words.map((word) => [word, word]), () => false,
            (word, on) => toggle(state.verdicts, word, on)),
        boxes('Charts', [['points', 'raw points: the ratio of each iteration, at the edge when beyond the axis']], () => false, (_, on) => { state.points = on; }),
        element('button', {type: 'reset'}, 'Reset'),
        element('output', {'aria-live': 'polite'}));
    controls.addEventListener('submit', (event) => event.preventDefault());
    controls.addEventListener('reset', () => {
        Object.assign(state, {baseline: data.baseline, family: '', hidden: new Set(), verdicts: new Set(), points: false});
        setTimeout(show);
    });
    document.querySelector('nav').append(' ', element('a', {href: '#controls'}, 'Filter, sort, other baseline'));
    const place = document.getElementById('controls');
    place.append(controls);
    place.hidden = false;
}

caseRows.forEach(showCaseRow);
makeControls();
all('table.cases').forEach(makeSortable);
offerCurves();
showRows();
})();
