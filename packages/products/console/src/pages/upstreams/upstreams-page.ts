import { type Finding, redactUrl, type Verdict, worstVerdict } from '@chainstead/core';
import { recordAudit } from '@chainstead/http';
import { listWrongAnswers, type WrongAnswerCursor, type WrongAnswerRecord } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage } from '../../console-page.ts';
import { button, changeForm, formFields, labeled } from '../../layout/form.ts';
import {
  code,
  cut,
  dash,
  type Html,
  livePart,
  NOTHING,
  nextLink,
  note,
  refused,
  section,
  shown,
  soft,
} from '../../layout/html.ts';
import {
  count,
  duration,
  kindsText,
  moment,
  nodeStateView,
  percent,
  plainCount,
  rate,
  severityView,
} from '../../layout/numbers.ts';
import { number, table, tableParts, wide } from '../../layout/table.ts';
import { findingsOfTest, type TestedNode } from './node-test.ts';
import type { NodeAddress, ShownUpstream, Upstreams } from './read-upstreams.ts';

const CHAIN_MAX = 64;
const URL_MAX = 2_000;
const WRONG_ANSWERS_PAGE = 100;

const testFields = z.object({
  chain: labeled(
    { label: 'Chain', attributes: 'list="chains" required maxlength="64" autocomplete="off"' },
    z
      .string()
      .trim()
      .max(CHAIN_MAX, 'is not a chain')
      .regex(/^[\w -]+$/, 'is not a chain'),
  ),
  // The URL contains keys, so error messages don't repeat it.
  url: labeled(
    {
      label: 'URL',
      attributes:
        'inputmode="url" placeholder="https://node.example.com/v2/key" required maxlength="2000" autocomplete="off" spellcheck="false"',
    },
    z
      .string()
      .trim()
      .max(URL_MAX, `is longer than ${URL_MAX} characters`)
      .regex(/^(https?|wss?):\/\//i, 'must begin with http://, https://, ws:// or wss://')
      .refine((url) => URL.canParse(url), 'is not a URL'),
  ),
});

const FOUND_MAX = 400;

const CONCLUSIONS: Readonly<Record<Verdict, string>> = {
  ok: 'Suitable for this chain.',
  warning: 'Usable, with the warnings above.',
  bad: 'Not suitable for this chain.',
};

export const upstreamsPage: ConsolePage = {
  path: '/upstreams',
  title: 'Upstreams',
  group: 'RPC',
  addRoutes(routes, { upstreams, nodeTest, database }) {
    routes.view('/upstreams', async ({ token }) => {
      const read = await upstreams.read();
      const first = read.rows[0]?.chain ?? nodeTest.chains[0] ?? '';
      return {
        body: html`${livePart('/upstreams', upstreamsView(read, upstreams.addressOf))}
${testForm(token, nodeTest.chains, first)}`,
      };
    });
    routes.live('/upstreams', async () => upstreamsView(await upstreams.read(), upstreams.addressOf));
    routes.view('/upstreams/wrong-answers', async ({ query }) => {
      const records = await listWrongAnswers(database, readCursor(query('before')), WRONG_ANSWERS_PAGE + 1);
      return {
        title: 'Wrong responses',
        body: wrongAnswersView(records, WRONG_ANSWERS_PAGE, upstreams.addressOf),
      };
    });
    routes.change('/upstreams/test', testFields, async ({ form, by }) => {
      const { chain, url } = form;
      const node = redactUrl(url);
      // Before anything is sent: the audit log shows who called an address, whatever the result.
      await database.transaction((transaction) =>
        recordAudit(transaction, by, { action: 'node.test', target: chain, details: { node } }),
      );
      const findings = findingsOfTest((onFinding) => nodeTest.run(chain, url, onFinding));
      // An error that prevents the test gets its own response.
      const first = await findings.next();
      if (first.value === null) throw refused('chain', chain, 'the name of a chain, such as eth');
      return { title: 'Upstream test', parts: nodeReportParts(first, findings) };
    });
  },
};

async function* nodeReportParts(
  first: IteratorResult<Finding, TestedNode | null>,
  findings: AsyncIterator<Finding, TestedNode | null>,
): AsyncGenerator<Html> {
  yield html`${note('Findings appear as they arrive. The verdict follows below within 20 seconds.')}
${FINDINGS.start}`;
  let reported = 0;
  try {
    let result = first;
    for (; result.done !== true; result = await findings.next()) {
      reported += 1;
      yield FINDINGS.line(findingCells(result.value));
    }
    const tested = result.value;
    if (tested === null) return yield FINDINGS.end;
    const { chain, name, findings: all, calls, tookMs } = tested;
    const verdict = worstVerdict(all);
    const late = all.slice(reported).map((finding) => FINDINGS.line(findingCells(finding)));
    yield html`${late}${FINDINGS.end}<p role="status"><strong>${shown(name)}</strong> for ${shown(chain)}: <strong class="v-${verdict}">${CONCLUSIONS[verdict]}</strong>
<span class="soft">${count(calls)} calls, ${duration(tookMs / 1_000)}.</span></p>
<p><a href="/console/upstreams#test">Test another upstream</a></p>`;
  } catch (error) {
    yield FINDINGS.end;
    throw error;
  }
}

const FINDINGS = tableParts({
  label: 'Findings',
  columns: ['Verdict', wide('Check', 'name'), wide('Result', 'text'), wide('Meaning and remedy', 'text')],
});

function findingCells({ subject, verdict, found, meaning, remedy }: Finding): readonly Html[] {
  return [
    severityView(verdict, verdict),
    shown(subject),
    shown(found, FOUND_MAX),
    html`${meaning !== null && shown(meaning, FOUND_MAX)}${remedy !== null && html`<br>${shown(remedy, FOUND_MAX)}`}`,
  ];
}

const REASON_MAX = 300;

function upstreamsView({ rows, wrongAnswers, at }: Upstreams, addressOf: NodeAddress): Html {
  const chains = Map.groupBy(rows, ({ chain }) => chain);
  return html`<p class="soft">As of ${moment(at)}. Calls, latencies and errors: all processes, last hour. Requests/s and in flight: last 10 to 20 minutes.</p>
${rows.length === 0 ? html`<p>No upstreams are configured or in use.</p>` : [...chains].map(([chain, ofChain]) => chainView(chain, ofChain))}
${section('caught', 'Wrong responses', wrongAnswers.length === 0 ? note('No wrong responses recorded.') : html`${wrongAnswersTable(wrongAnswers, addressOf)}<p><a href="/console/upstreams/wrong-answers">All wrong responses</a></p>`)}`;
}

function chainView(chain: string, rows: readonly ShownUpstream[]): Html {
  const title = cut(chain);
  const nodes = table({
    label: `Upstreams of ${title}`,
    columns: [
      wide('Upstream', 'name'),
      wide('State', 'name'),
      ...['Head', 'p50 / p95', 'Calls'].map(number),
      wide('Errors', 'name'),
      ...['Requests/s', 'In flight'].map(number),
    ],
    rows: rows.map(cellsOf),
  });
  return html`<section aria-label="${title}"><h2>${shown(chain)}</h2>${nodes}</section>`;
}

function cellsOf(row: ShownUpstream): (Html | string)[] {
  const { budget, half: p50, most: p95, state, reason, errorShare, faults } = row;
  const kinds = faults.size === 0 ? NOTHING : html` ${soft(`(${kindsText(faults)})`)}`;
  const { perSecond, perSecondMax } = budget;
  const isNearLimit = perSecondMax !== null && perSecond / perSecondMax >= NEARLY_USED;
  return [
    html`${shown(row.address)}${row.isPrivate && html`<br>${soft('private')}`}${!row.isConfigured && html`<br>${soft('not configured for this process')}`}`,
    state === null ? soft('not reported') : nodeStateView(state, reason, REASON_MAX),
    dash(row.head, count),
    p50 === null || p95 === null ? '–' : `${Math.round(p50)} / ${Math.round(p95)} ms`,
    count(row.calls),
    dash(errorShare, (part) => html`${percent(part)}${kinds}`),
    html`${rate(perSecond)}${perSecondMax !== null && ` of ${plainCount(perSecondMax)}`}${isNearLimit && html` <span class="v-warning">(near limit)</span>`}`,
    html`${rate(budget.atOnce)}${budget.atOnceMax !== null && ` of ${plainCount(budget.atOnceMax)}`}`,
  ];
}

const NEARLY_USED = 0.9;

function testForm(token: string, chains: readonly string[], first: string): Html {
  const content = html`<div class="fields">${formFields(testFields, { values: { chain: first } })}
<datalist id="chains">${chains.map((chain) => html`<option value="${chain}"></option>`)}</datalist>
<div>${button('Test upstream')}</div></div>`;
  return section(
    'test',
    'Test an upstream',
    note(
      'Checks whether an upstream suits a chain, before you configure it: client, head, history, limits and speed. Takes up to 20 seconds and a few hundred calls. `chainstead doctor` runs the same test. This server calls the URL, which may be in your own network. The URL is not stored.',
    ),
    changeForm('/console/upstreams/test', token, {}, content, 'Test an upstream'),
  );
}

const DESCRIPTION_MAX = 300;

function wrongAnswersView(records: readonly WrongAnswerRecord[], page: number, addressOf: NodeAddress): Html {
  const listed = records.slice(0, page);
  const last = records.length > page ? listed.at(-1) : undefined;
  return html`${note('Responses of upstreams that a proof or other upstreams contradicted, by day and kind for a year, and each block with repaired rows. Chainstead uses other upstreams instead, and such an upstream less often.')}
${listed.length === 0 ? html`<p>No ${records.length === 0 ? 'wrong responses recorded' : 'older wrong responses'}.</p>` : wrongAnswersTable(listed, addressOf)}
${nextLink(last === undefined ? null : `/console/upstreams/wrong-answers?before=${writeCursor(last.cursor)}`, 'Older')}
<p><a href="/console/upstreams">Upstreams</a></p>`;
}

function wrongAnswersTable(records: readonly WrongAnswerRecord[], addressOf: NodeAddress): Html {
  const rows = records.map((record) => [
    moment(record.seenAt),
    shown(addressOf(record)),
    shown(record.chain),
    html`${shown(record.kind)}${record.block !== null && html`, block ${count(record.block)} repaired`}`,
    count(record.occurrences),
    html`${record.block === null && html`${code(shown(record.method))}: `}${shown(record.description, DESCRIPTION_MAX)}`,
  ]);
  return table({
    label: 'Wrong responses',
    columns: [
      ...[wide('Last seen', 'name'), wide('Upstream', 'name'), 'Chain'],
      ...[wide('Kind', 'name'), number('Count'), wide('Details', 'text')],
    ],
    rows,
  });
}

const TEXT_MAX = 4_000;
const MICROSECONDS_MAX = 8.64e18;
const cursor = z.tuple([z.number().min(0).max(MICROSECONDS_MAX), z.string()]);

function writeCursor({ seenAt, key }: WrongAnswerCursor): string {
  return Buffer.from(JSON.stringify([seenAt, key])).toString('base64url');
}

function readCursor(text = ''): WrongAnswerCursor | null {
  if (text === '') return null;
  const parsed = cursor.safeParse(parse(text));
  if (!parsed.success) throw refused('before', text, 'the cursor of a link on the page');
  const [seenAt, key] = parsed.data;
  // Postgres accepts no NUL.
  return { seenAt, key: key.replaceAll('\0', '') };
}

function parse(text: string): unknown {
  if (text.length > TEXT_MAX) return undefined;
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
