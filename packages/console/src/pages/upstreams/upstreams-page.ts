import { type Finding, redactUrl, type Verdict, worstVerdict } from '@chainstead/core';
import { InvalidParameterError, recordAudit } from '@chainstead/http';
import { listWrongAnswers } from '@chainstead/sync';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage } from '../../console-page.ts';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { livePart } from '../../layout/live-part.ts';
import { count, duration } from '../../layout/numbers.ts';
import { findingsOfTest, type TestedNode } from './node-test.ts';
import { testForm, upstreamsView } from './upstreams-view.ts';
import { readCursor } from './wrong-answer-cursor.ts';
import { wrongAnswersView } from './wrong-answers-view.ts';

const CHAIN_MAX = 64;
const URL_MAX = 2_000;
const WRONG_ANSWERS_PAGE = 100;

const testFields = z.object({
  chain: z
    .string()
    .trim()
    .max(CHAIN_MAX, 'is not a chain')
    .regex(/^[\w -]+$/, 'is not a chain'),
  // Error messages don't repeat it, as it contains keys.
  url: z
    .string()
    .trim()
    .max(URL_MAX, `is longer than ${URL_MAX} characters`)
    .regex(/^(https?|wss?):\/\//i, 'must begin with http://, https://, ws:// or wss://')
    .refine((url) => URL.canParse(url), 'is not a URL'),
});

const FOUND_MAX = 400;

const WORDS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'warning', bad: 'bad' };
const CONCLUSIONS: Readonly<Record<Verdict, string>> = {
  ok: 'Suitable for this chain.',
  warning: 'Usable, with the warnings above.',
  bad: 'Not suitable for this chain.',
};

const TABLE_END = html`</tbody></table></div>`;

/** Nodes: their state, load, failures and incorrect responses, and the test of a candidate node. */
export const upstreamsPage: ConsolePage = {
  path: '/upstreams',
  title: 'Upstreams',
  group: 'Nodes',
  addRoutes(routes, { upstreams, nodeTest, database }) {
    routes.view('/upstreams', async ({ token }) => {
      const read = await upstreams.read();
      const first = read.rows[0]?.chain ?? nodeTest.chains[0] ?? '';
      return {
        title: 'Upstreams',
        body: html`<h1>Upstreams</h1>
${livePart('/upstreams', upstreamsView(read, upstreams.addressOf))}
${testForm(token, nodeTest.chains, first)}`,
      };
    });
    routes.live('/upstreams', async () => upstreamsView(await upstreams.read(), upstreams.addressOf));
    routes.view('/upstreams/wrong-answers', async ({ query }) => {
      const records = await listWrongAnswers(database, readCursor(query('before')), WRONG_ANSWERS_PAGE + 1);
      return { title: 'Wrong responses', body: wrongAnswersView(records, WRONG_ANSWERS_PAGE, upstreams.addressOf) };
    });
    routes.change('/upstreams/test', testFields, async ({ form, by }) => {
      const { chain, url } = form;
      const node = redactUrl(url);
      // Before anything is sent: the audit log shows who made this server call an address, whatever the result.
      await database.transaction((transaction) =>
        recordAudit(transaction, by, { action: 'node.test', target: chain, details: { node } }),
      );
      const findings = findingsOfTest((onFinding) => nodeTest.run(chain, url, onFinding));
      // An error that prevents the test gets its own response.
      const first = await findings.next();
      if (first.value === null)
        throw new InvalidParameterError({
          parameter: 'chain',
          given: chain,
          allowed: 'the name of a chain, such as eth',
        });
      return { title: 'Node test', parts: nodeReportParts(first, findings) };
    });
  },
};

/** Streams the results of a node test. @param first of `findings`, which was awaited already */
async function* nodeReportParts(
  first: IteratorResult<Finding, TestedNode | null>,
  findings: AsyncIterator<Finding, TestedNode | null>,
): AsyncGenerator<Html> {
  yield html`<h1>Node test</h1>
<p class="soft">Findings appear as they arrive. The verdict follows below within 20 seconds.</p>
<div class="table" tabindex="0" role="region" aria-label="Findings"><table><thead><tr><th scope="col">Verdict</th><th scope="col">Check</th><th scope="col">Result</th><th scope="col">Meaning and remedy</th></tr></thead><tbody>`;
  let reported = 0;
  try {
    let result = first;
    for (; result.done !== true; result = await findings.next()) {
      reported += 1;
      yield findingRow(result.value);
    }
    const tested = result.value;
    yield html`${tested?.findings.slice(reported).map(findingRow) ?? NOTHING}${TABLE_END}${tested === null ? NOTHING : conclusionView(tested)}`;
  } catch (error) {
    // Ends the table, so that the verdict is below it.
    yield TABLE_END;
    throw error;
  }
}

function conclusionView({ chain, name, findings, calls, tookMs }: TestedNode): Html {
  const verdict = worstVerdict(findings);
  return html`<p role="status"><strong>${shown(name)}</strong> for ${shown(chain)}: <strong class="v-${verdict}">${CONCLUSIONS[verdict]}</strong>
<span class="soft">${count(calls)} calls, ${duration(tookMs / 1_000)}.</span></p>
<p><a href="/console/upstreams#test">Test another node</a></p>`;
}

function findingRow({ subject, verdict, found, meaning, remedy }: Finding): Html {
  return html`<tr><td><span class="v-${verdict}">${WORDS[verdict]}</span></td><td class="name">${shown(subject)}</td><td class="text">${shown(found, FOUND_MAX)}</td>
<td class="text">${meaning === null ? NOTHING : shown(meaning, FOUND_MAX)}${remedy === null ? NOTHING : html`<br>${shown(remedy, FOUND_MAX)}`}</td></tr>`;
}
