'use strict';
/* HTML pages in a real browser, as people use them: headless Chromium driven by playwright-core. The
 * program makes the pages; its own `compare` is what another baseline is checked against. */
const {test, before, after} = require('node:test');
const assert = require('node:assert/strict');
const {execFileSync, spawnSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {chromium} = require('playwright-core');
const {HtmlValidate, FileSystemConfigLoader} = require('html-validate');
const fixture = require('./fixture.js');

const PROGRAM = process.env.LM_PROGRAM;
const WIDTHS = [360, 1024, 1600];
let folder, browser;

const at = (...parts) => path.join(folder, ...parts);

/* What the program prints. Exit code 3, samples failed, is no failure of the program. */
function run(...words) {
    const {status, stdout} = spawnSync(PROGRAM, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28});
    assert.ok(status === 0 || status === 3, `loopmark ${words.join(' ')} ended with ${status}`);
    return stdout;
}

const pages = (name) => fs.readdirSync(at(name)).filter((file) => file.endsWith('.html')).map((file) => at(name, file));
const slug = (name) => pages(name).find((file) => !/(index|methodology)\.html$/.test(file));

before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'loopmark-browser-'));
    for (const name of ['plain', 'hostile', 'extreme']) {
        fixture[name](at(`${name}.jsonl`));
        run('report', at(`${name}.jsonl`), '--out', at(name));
    }
    fixture.plain(at('darwin.jsonl'), 'Darwin');
    run('report', process.env.LM_TABLE, '--os', 'macOS', '--out', at('table'));
    browser = await chromium.launch({executablePath: process.env.LM_CHROMIUM, args: ['--no-sandbox']});
});

after(async () => {
    await browser?.close();
    fs.rmSync(folder, {recursive: true, force: true});
});

/* Opens files one after the other in one window: action gets the page and a function that opens one.
 * Anything that a page fetches, logs or throws fails the test at the end. */
async function browse(options, action) {
    const context = await browser.newContext({viewport: {width: 1024, height: 900}, ...options});
    const page = await context.newPage(), troubles = [];
    let url;
    page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
    page.on('console', (message) => troubles.push(`console: ${message.text()}`));
    page.on('dialog', (dialog) => {
        troubles.push(`dialog: ${dialog.message()}`);
        dialog.dismiss();
    });
    page.on('request', (request) => {
        if (request.url() !== url) {
            troubles.push(`request: ${request.url()}`);
        }
    });
    try {
        await action(page, async (file) => {
            url = `file://${encodeURI(file)}`;
            await page.goto(url);
        });
    } finally {
        await context.close();
    }
    assert.deepEqual(troubles, []);
}

const visit = (file, options, action) => browse(options, async (page, open) => {
    await open(file);
    await action(page);
});

const openAll = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((details) => { details.open = true; }));

test('every page is valid HTML', async () => {
    const loader = new FileSystemConfigLoader();
    const validator = new HtmlValidate(loader);
    const config = fs.readFileSync(path.join(__dirname, '.htmlvalidate.json'), 'utf8');
    for (const name of ['plain', 'hostile', 'table']) {
        for (const file of pages(name)) {
            const report = await validator.validateString(fs.readFileSync(file, 'utf8'), JSON.parse(config));
            const found = report.results.flatMap((result) => result.messages.map((message) => `${path.basename(file)}:${message.line}: ${message.ruleId}: ${message.message}`));
            assert.deepEqual(found, []);
        }
    }
});

test('no page is wider than its window, at any width, light and dark', async () => {
    for (const name of ['plain', 'hostile', 'table']) {
        await browse({}, async (page, open) => {
            for (const file of pages(name)) {
                await open(file);
                await openAll(page);
                for (const width of WIDTHS) {
                    for (const colorScheme of ['light', 'dark']) {
                        await page.setViewportSize({width, height: 800});
                        await page.emulateMedia({colorScheme});
                        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
                        assert.ok(over <= 0, `${path.basename(file)} at ${width}: ${over} px too wide`);
                    }
                }
            }
        });
    }
});

test('with scripts off every figure can be read and no control is offered', async () => {
    await visit(slug('plain'), {javaScriptEnabled: false}, async (page) => {
        assert.equal(await page.locator('#controls').isVisible(), false);
        assert.equal(await page.locator('table.cases tbody tr').count(), 29 * 6);
        const family = page.locator('section', {has: page.locator('#fan_out')});
        await family.locator('summary').click();
        assert.ok(await family.locator('table.cases').isVisible());
        assert.match(await family.locator('table.cases tbody tr').first().innerText(), /fan_out\/fork_join\/0\s+base\s+.* ops\/s/);
    });
});

/* Rows of a page: [case, implementation, difference, verdict, paired ratio]. */
const pageRows = (page) => page.evaluate(() => [...document.querySelectorAll('table.cases tbody tr')].map((row) =>
    [row.cells[0].querySelector('code'), ...[1, 4, 5, 6].map((i) => row.cells[i])].map((cell) => cell.textContent.trim())));

/* The same rows as `loopmark compare` prints them. */
function comparedRows(name, baseline) {
    const text = run('compare', '--format', 'markdown', '--baseline', baseline, at(`${name}.jsonl`));
    return text.split('\n').map((line) => line.split(' | ')).filter((cells) => cells.length === 11 && cells[0].startsWith('| `'))
        .map((cells) => [cells[0].slice(2), cells[1], cells[4], cells[5], cells[6]].map((cell) => cell.replaceAll('`', '').trim()));
}

const sorted = (rows) => rows.map((row) => row.join(' | ')).sort();

test('each baseline gives the rows that compare gives for it', async () => {
    await visit(slug('plain'), {}, async (page) => {
        const choice = page.getByRole('combobox', {name: 'Baseline'});
        const baselines = await choice.locator('option').allTextContents();
        assert.deepEqual(baselines, ['base', 'fast:key=1', 'noisy', 'slow', 'bare']);
        for (const baseline of [...baselines.slice(1), baselines[0]]) {
            await choice.selectOption(baseline);
            let rows = await pageRows(page);
            if (baseline !== 'base') { /* the second copy is compared with its own first one only */
                assert.ok(rows.filter((row) => row[1] === 'base (A/A)').every((row) => row[3] === 'not compared'));
                rows = rows.filter((row) => row[1] !== 'base (A/A)');
            }
            assert.deepEqual(sorted(rows), sorted(comparedRows('plain', baseline)), baseline);
            const answers = run('compare', '--format', 'markdown', '--baseline', baseline, at('plain.jsonl'))
                .split('\n').filter((line) => line.startsWith('- **')).map((line) => line.slice(2).replaceAll(/[*`\\]/g, ''));
            assert.deepEqual(await page.locator('ul.answers li').allInnerTexts(), answers, baseline);
        }
    });
});

test('the family filter leaves one family, reset brings all back', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await page.getByRole('combobox', {name: 'Family'}).selectOption('socket_latency');
        assert.equal(await page.locator('#fan_out').isVisible(), false);
        assert.ok(await page.locator('#socket_latency').isVisible());
        assert.equal(await page.locator('output').innerText(), '18 of 174 rows shown');
        await page.getByRole('button', {name: 'Reset'}).click();
        await page.locator('#fan_out').waitFor({state: 'visible'});
        assert.equal(await page.locator('output').innerText(), '174 of 174 rows shown');
    });
});

test('implementations and verdicts filter rows and marks', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await openAll(page);
        await page.getByRole('group', {name: 'Implementations'}).getByLabel('slow').uncheck();
        const shown = await page.locator('table.cases tbody tr:visible').evaluateAll((rows) => rows.map((row) => row.cells[1].innerText));
        assert.equal(shown.length, 29 * 5);
        assert.equal(shown.filter((name) => name === 'slow').length, 0);
        assert.equal(await page.locator('#chart-socket_latency .lane:visible').count(), 3 * 3);
        await page.getByRole('button', {name: 'Reset'}).click();
        await page.getByRole('group', {name: 'Only these verdicts'}).getByLabel('failed').check();
        assert.deepEqual(await page.locator('table.cases tbody tr:visible').evaluateAll((rows) => rows.map((row) => [row.cells[0].innerText, row.cells[1].innerText])),
            [['fan_out/fork_join/1', 'fast:key=1']]);
        assert.equal(await page.locator('.lane:visible').count(), 1);
    });
});

test('every column sorts both ways, with what is not known at the end', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await openAll(page);
        const table = page.locator('section', {has: page.locator('#fan_out')}).locator('table.cases');
        const data = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent));
        const titles = await table.locator('thead th').allInnerTexts();
        for (const [index, title] of titles.map((text) => text.trim()).entries()) {
            for (const direction of ['ascending', 'descending']) {
                await table.locator('thead th').nth(index).getByRole('button').click();
                assert.equal(await table.locator('thead th').nth(index).getAttribute('aria-sort'), direction);
                const rows = await table.locator('tbody tr').evaluateAll((all, i) => all.map((row) => [+row.dataset.case, +row.dataset.who, row.cells[i].innerText.trim()]), index);
                assert.equal(rows.length, 24 * 6);
                const keys = rows.map(([which, who, text]) => title in data.columns ? data.figures[who][which][data.columns[title]]
                    : title === 'case' ? which : ['vs base', 'paired ratio'].includes(title) ? (/\d/.test(text) ? parseFloat(text) : text === '' && title === 'vs base' ? 0 : null) : text);
                const known = keys.filter((key) => key !== null);
                assert.ok(keys.slice(known.length).every((key) => key === null), `${title}: unknown ones last`);
                known.forEach((key, i) => assert.ok(i === 0 || (direction === 'ascending' ? known[i - 1] <= key : known[i - 1] >= key),
                    `${title}, ${direction}: ${known[i - 1]} before ${key}`));
            }
        }
    });
});

test('rows sorted by what the baseline moves are sorted again, and every verdict can be asked for', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await openAll(page);
        const table = page.locator('section', {has: page.locator('#fan_out')}).locator('table.cases');
        await table.getByRole('button', {name: 'vs base'}).click();
        const words = await page.getByRole('group', {name: 'Only these verdicts'}).getByRole('checkbox').evaluateAll((all) => all.map((box) => box.parentNode.innerText.trim()));
        for (const baseline of ['slow', 'bare', 'base']) {
            await page.getByRole('combobox', {name: 'Baseline'}).selectOption(baseline);
            const [differences, verdicts] = await table.locator('tbody tr').evaluateAll((rows) => [4, 5].map((i) => rows.map((row) => row.cells[i].textContent)));
            const keys = differences.filter((text) => text !== '-').map((text) => parseFloat(text || '0'));
            keys.forEach((key, i) => assert.ok(i === 0 || keys[i - 1] <= key, `${baseline}: ${keys[i - 1]} before ${key}`));
            assert.deepEqual(verdicts.filter((word) => !words.includes(word)), []);
            assert.match(await page.locator('#chart-fan_out--part-1 desc').textContent(), new RegExp(`ratio to ${baseline} on`));
        }
    });
});

/* What lies outside of its chart, and texts that overlap. */
const faultsOfCharts = (page) => page.evaluate(() => {
    const faults = [];
    for (const svg of document.querySelectorAll('svg.chart[id]')) {
        const frame = svg.getBoundingClientRect();
        for (const part of svg.querySelectorAll('path, line, rect, circle, text')) {
            const box = part.getBoundingClientRect();
            if (box.width + box.height > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)) {
                faults.push(`${svg.id}: ${part.outerHTML.slice(0, 120)} is outside`);
            }
            if (/NaN|Infinity|undefined|e\+\d/.test(part.outerHTML)) {
                faults.push(`${svg.id}: ${part.outerHTML.slice(0, 120)}`);
            }
        }
        const texts = [...svg.querySelectorAll('text')].filter((text) => text.textContent && text.getBoundingClientRect().width > 0)
            .map((text) => [text.textContent, text.getBoundingClientRect()]).sort((a, b) => a[1].top - b[1].top);
        texts.forEach(([text, a], i) => {
            for (let j = i + 1; j < texts.length && texts[j][1].top < a.bottom - 4; j++) {
                const b = texts[j][1];
                if (a.left < b.right - 1 && b.left < a.right - 1 && b.bottom - 4 > a.top) {
                    faults.push(`${svg.id}: "${text}" and "${texts[j][0]}" overlap`);
                }
            }
        });
    }
    return faults;
});

test('no mark leaves its chart and no texts overlap, for every baseline and width', async () => {
    for (const [name, width] of [['plain', 360], ['plain', 1600], ['hostile', 360], ['extreme', 360], ['table', 360], ['table', 1024]]) {
        await visit(slug(name), {viewport: {width, height: 800}}, async (page) => {
            assert.deepEqual(await faultsOfCharts(page), [], `${name} at ${width}`);
            const choice = page.getByRole('combobox', {name: 'Baseline'});
            for (const [i] of (await choice.locator('option').all()).entries()) {
                await choice.selectOption({index: i});
                await page.getByLabel('raw points').check();
                assert.deepEqual(await faultsOfCharts(page), [], `${name} at ${width}, baseline ${i}`);
            }
        });
    }
});

test('a chart that a script drew for the own baseline is the one that was there', async () => {
    await visit(slug('plain'), {}, async (page) => {
        const shapes = () => page.evaluate(() => [...document.querySelectorAll('svg.chart .lane, svg.chart .tick, svg.chart .bar')]
            .map((part) => [...part.querySelectorAll('rect, line, path, text')].map((one) => {
                const holder = one.tagName === 'path' ? one.parentNode : one;
                return [one.tagName, holder.getAttribute('class'), ...['x', 'width', 'x1', 'x2'].map((key) => parseFloat(holder.getAttribute(key) ?? '0').toFixed(1)),
                    one.getAttribute('d'), one.textContent].join(' ');
            })));
        const drawn = await shapes();
        assert.ok(drawn.length > 100);
        await page.getByRole('combobox', {name: 'Baseline'}).selectOption('slow');
        assert.notDeepEqual(await shapes(), drawn);
        await page.getByRole('combobox', {name: 'Baseline'}).selectOption('base');
        assert.deepEqual(await shapes(), drawn);
    });
});

test('raw points are the iterations of each candidate', async () => {
    await visit(slug('plain'), {}, async (page) => {
        assert.equal(await page.locator('#chart-socket_latency circle').count(), 0);
        await page.getByLabel('raw points').check();
        assert.equal(await page.locator('#chart-socket_latency circle').count(), 3 * 4 * 7);
    });
});

test('percentile curves open by keyboard, hold the pooled figures, and give the focus back', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await openAll(page);
        const button = page.getByRole('button', {name: 'Latency by percentile of fan_out/fork_join/0'});
        await button.focus();
        await page.keyboard.press('Enter');
        const dialog = page.getByRole('dialog', {name: /Latency by percentile/});
        await dialog.waitFor();
        assert.equal(await dialog.locator('svg.curves .m').count(), 6 * 11);
        assert.equal(await dialog.locator('tbody tr').count(), 6);
        const data = await page.evaluate(() => JSON.parse(document.getElementById('data').textContent));
        assert.deepEqual(await dialog.locator('tbody tr').first().locator('td').allInnerTexts(), data.curve.values[0][0][1]);
        await page.keyboard.press('Escape');
        await dialog.waitFor({state: 'hidden'});
        assert.ok(await button.evaluate((element) => element === document.activeElement));
    });
});

test('percentile curves fit at 360 px and have labels on both axes', async () => {
    for (const name of ['plain', 'extreme']) {
        await visit(slug(name), {viewport: {width: 360, height: 800}}, async (page) => {
            await openAll(page);
            await page.locator('button.curve').first().click();
            const curves = page.locator('dialog svg.curves');
            assert.ok(await curves.locator('.time').count() > 1);
            const outside = await curves.evaluate((svg) => {
                const frame = svg.getBoundingClientRect();
                return [...svg.querySelectorAll('text')].filter((text) => {
                    const box = text.getBoundingClientRect();
                    return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
                }).map((text) => text.textContent);
            });
            assert.deepEqual(outside, [], name);
        });
    }
});

test('the keyboard reaches everything that can be used, and shows where it is', async () => {
    await visit(slug('plain'), {}, async (page) => {
        const kinds = new Set();
        let unmarked = '';
        for (let i = 0; i < 120; i++) {
            await page.keyboard.press('Tab');
            const [kind, marked] = await page.evaluate(() => {
                const active = document.activeElement, style = getComputedStyle(active);
                return [`${active.tagName}.${active.className}.${active.type ?? ''}`, active === document.body || style.outlineStyle !== 'none'];
            });
            kinds.add(kind);
            unmarked = marked ? unmarked : kind;
        }
        assert.equal(unmarked, '');
        for (const kind of ['A..', 'SECTION.scroll.', 'SELECT..select-one', 'INPUT..checkbox', 'BUTTON..reset', 'SUMMARY..']) {
            assert.ok(kinds.has(kind), `${kind} is not reached; there are ${[...kinds].join(' ')}`);
        }
        await page.locator('summary').first().focus();
        await page.keyboard.press('Enter');
        await page.keyboard.press('Tab');
        await page.keyboard.press('Tab');
        assert.match(await page.evaluate(() => document.activeElement.className), /sort/);
        await page.keyboard.press('Enter');
        assert.equal(await page.evaluate(() => document.activeElement.parentNode.getAttribute('aria-sort')), 'ascending');
    });
});

test('the accessibility tree names headings, tables, charts and controls', async () => {
    await visit(slug('plain'), {}, async (page) => {
        await openAll(page);
        const tree = await page.locator('body').ariaSnapshot();
        for (const words of ['navigation "Pages"', 'heading "I/O backends compared on Linux" [level=1]', 'heading "fan_out" [level=2]',
            'img "Verdicts by family', 'img "fan_out, part 1 of 2', 'table "Verdicts by family"', 'table "Every case of socket_latency"',
            'columnheader "vs base"', 'rowheader', 'combobox "Baseline"', 'group "Implementations"', 'checkbox "noisy"', 'status']) {
            assert.ok(tree.includes(words), `${words} is missing`);
        }
        const levels = await page.locator('h1, h2, h3').evaluateAll((all) => all.map((heading) => +heading.tagName[1]));
        assert.equal(levels[0], 1);
        levels.forEach((level, i) => assert.ok(i === 0 || level <= levels[i - 1] + 1));
        const unnamed = await page.locator('svg.chart[id]').evaluateAll((all) => all.filter((svg) => !svg.querySelector(':scope > title')?.textContent || !svg.querySelector(':scope > desc')?.textContent).length);
        assert.equal(unnamed, 0);
    });
});

/* Every visible text against what is behind it: at least 4.5 to 1 (WCAG AA); marks at least 3. */
const contrasts = (page) => page.evaluate(() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgb = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
    const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = rgb(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) {
                return colour;
            }
        }
        return [255, 255, 255];
    };
    const found = new Map();
    const note = (key, value, least) => {
        if (value < least) {
            found.set(key, value.toFixed(2));
        }
    };
    for (const element of document.querySelectorAll('main *, nav *')) {
        const style = getComputedStyle(element), own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!element.checkVisibility() || element.closest('title, desc')) {
            continue;
        }
        const inChart = element.closest('svg');
        if (inChart && own && element.tagName !== 'STYLE') {
            const bar = element.classList.contains('n') && ['slower', 'within', 'faster'].find((name) => element.classList.contains(name));
            const ground = bar ? rgb(getComputedStyle(inChart.querySelector(`rect.${bar}`)).fill) : behind(inChart.closest('figure'));
            note(`svg text ${element.getAttribute('class')}`, ratio(rgb(style.fill), ground), 4.5);
        } else if (inChart && element.tagName === 'path') {
            const colour = style.fill === 'none' ? style.stroke : style.fill;
            note(`mark ${element.parentNode.getAttribute('class')}`, ratio(rgb(colour), behind(inChart.closest('figure'))), 3);
        } else if (!inChart && own) {
            note(`${element.tagName}.${element.className}`, ratio(rgb(style.color), behind(element)), 4.5);
        }
    }
    return Object.fromEntries(found);
});

test('all text has a contrast of at least 4.5, all marks of 3, light and dark', async () => {
    for (const colorScheme of ['light', 'dark']) {
        for (const file of pages('plain')) {
            await visit(file, {colorScheme}, async (page) => {
                await openAll(page);
                assert.deepEqual(await contrasts(page), {}, `${path.basename(file)}, ${colorScheme}`);
            });
        }
    }
});

test('printed, a page is on paper colours, without controls, and fits', async () => {
    await visit(slug('plain'), {colorScheme: 'dark'}, async (page) => {
        await page.emulateMedia({media: 'print', colorScheme: 'dark'});
        const table = page.locator('table.cases').first();
        assert.ok(await table.evaluate((one) => one.checkVisibility()), 'what is folded is printed');
        assert.match(await table.locator('thead').innerText(), /case\s+implementation\s+median/);
        await openAll(page);
        await page.setViewportSize({width: 720, height: 1000});
        assert.equal(await page.locator('form').isVisible(), false);
        assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(255, 255, 255)');
        assert.deepEqual(await contrasts(page), {});
        const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(over <= 0, `${over} px too wide`);
        assert.ok((await page.pdf({format: 'A4'})).length > 10000);
    });
});

test('hostile text is shown as it is and does nothing', async () => {
    await visit(slug('hostile'), {}, async (page) => {
        await openAll(page);
        assert.equal(await page.evaluate(() => window.hacked), undefined);
        const shown = await page.locator('main').innerText();
        for (const text of fixture.HOSTILE) {
            assert.ok(shown.includes(text), `${text} is not shown`);
        }
        assert.equal(await page.locator('main img, main iframe, main script, main a[href^="javascript"], main a[href^="http"]').count(), 0);
        await page.getByRole('combobox', {name: 'Baseline'}).selectOption({index: 3});
        await page.getByLabel('raw points').check();
        const button = page.getByRole('button', {name: /^Latency by percentile/}).first();
        await button.click();
        assert.equal(await page.evaluate(() => window.hacked), undefined);
    });
});

test('charts as files are drawn too, and hostile names do nothing there', async () => {
    for (const name of ['plain', 'hostile', 'table']) {
        await browse({}, async (page, open) => {
            for (const file of fs.readdirSync(at(name, 'charts'))) {
                await open(at(name, 'charts', file));
                const [tag, width, wrong] = await page.evaluate(() => [document.documentElement.tagName, document.documentElement.getBoundingClientRect().width,
                    document.querySelectorAll('script, parsererror, img').length]);
                assert.deepEqual([tag, width, wrong], ['svg', 960, 0], file);
            }
        });
    }
});

test('the page of 113 cases, 8 backends and 7 iterations is below 3 MB and fits at 360 px', async () => {
    fixture.large(at('large.jsonl'));
    run('report', at('large.jsonl'), '--out', at('large'), '--format', 'html');
    assert.ok(fs.statSync(slug('large')).size < 3e6);
    await visit(slug('large'), {viewport: {width: 360, height: 800}}, async (page) => {
        assert.equal(await page.locator('table.cases tbody tr').count(), 113 * 8);
        await page.getByRole('combobox', {name: 'Baseline'}).selectOption('backend_7');
        assert.match(await page.locator('ul.answers li').first().innerText(), /^backend_0: 0 faster · 0 within noise · 113 slower of 113/);
        assert.deepEqual(await faultsOfCharts(page), []);
    });
});

const renderers = {adoc: ['asciidoctor', ['-q', '-w', '--failure-level', 'WARN', '-o', '-']],
    md: ['cmark-gfm', ['--unsafe', '-e', 'table', '-e', 'strikethrough', '-e', 'autolink', '-e', 'tagfilter', '-e', 'tasklist']]};

/* AsciiDoc through Asciidoctor, Markdown through the parser that GitHub uses. */
function rendered(file) {
    const [command, words] = renderers[path.extname(file).slice(1)];
    return execFileSync(command, [...words, file], {encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe']});
}

test('AsciiDoc and Markdown render without a warning, with the rows of the HTML page', async () => {
    for (const name of ['plain', 'table', 'hostile']) {
        let expected;
        await visit(slug(name), {javaScriptEnabled: false}, async (page) => {
            expected = sorted(await pageRows(page));
        });
        for (const extension of ['adoc', 'md']) {
            for (const file of pages(name)) {
                const html = rendered(file.replace(/html$/, extension));
                const shownAt = at(`${extension}.html`);
                fs.writeFileSync(shownAt, html.replace(/<link [^>]*>|<script[\s\S]*?<\/script>|<img [^>]*>/g, ''));
                if (file !== slug(name)) {
                    continue;
                }
                await visit(shownAt, {javaScriptEnabled: false}, async (page) => {
                    const rows = await page.evaluate(() => [...document.querySelectorAll('tr')].filter((row) => row.cells.length === 11 && row.querySelector('td'))
                        .map((row) => [0, 1, 4, 5, 6].map((i) => row.cells[i].textContent.trim())));
                    assert.deepEqual(sorted(rows), expected, `${name}.${extension}`);
                    const text = await page.evaluate(() => document.body.textContent);
                    for (const hostile of name === 'hostile' ? fixture.HOSTILE : []) {
                        assert.ok(text.includes(hostile), `${extension}: ${hostile} is not shown`);
                    }
                    assert.equal(await page.locator('body a[href^="javascript"], body a[href^="http"], body script').filter({hasNotText: 'Asciidoctor'}).count(), 0);
                });
            }
        }
    }
});

test('the landing page leads to each page, and a page back', async () => {
    run('report', at('plain.jsonl'), at('darwin.jsonl'), '--out', at('two'));
    await visit(at('two', 'index.html'), {}, async (page) => {
        assert.deepEqual(await page.locator('tbody a').evaluateAll((all) => all.map((link) => link.getAttribute('href'))), ['linux.html', 'macos.html']);
    });
    for (const file of pages('two')) {
        let links;
        await visit(file, {}, async (page) => {
            links = await page.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
        });
        for (const link of links) {
            const [target, fragment] = link.split('#'), there = target === '' ? file : at('two', target);
            assert.ok(fs.existsSync(there), `${path.basename(file)}: ${link}`);
            assert.ok(!fragment || fs.readFileSync(there, 'utf8').includes(`id="${fragment}"`), `${path.basename(file)}: ${link}`);
        }
    }
});
