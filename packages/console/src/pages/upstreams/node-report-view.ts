import { type Finding, type Verdict, worstVerdict } from '@chainstead/core';
import { html } from 'hono/html';
import { type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration } from '../../layout/numbers.ts';
import type { TestedNode } from './node-test.ts';

const FOUND_MAX = 400;

const WORDS: Readonly<Record<Verdict, string>> = { ok: 'ok', warning: 'warning', bad: 'bad' };
const CONCLUSIONS: Readonly<Record<Verdict, string>> = {
  ok: 'It is good for this chain.',
  warning: 'It can be used, with what the warnings say.',
  bad: 'It can’t be used as it is.',
};

const TABLE_END = html`</tbody></table></div>`;

/** What comes of trying a node, bit by bit. @param first of `findings`, which was awaited already */
export async function* nodeReportParts(
  first: IteratorResult<Finding, TestedNode | null>,
  findings: AsyncIterator<Finding, TestedNode | null>,
): AsyncGenerator<Html> {
  yield html`<h1>Test of a node</h1>
<p class="soft">Findings appear as they come; what they add up to stands below them, after up to 20 seconds.</p>
<div class="table" tabindex="0" role="region" aria-label="Findings"><table><thead><tr><th scope="col">Verdict</th><th scope="col">Of what</th><th scope="col">Found</th><th scope="col">What it means, and what to do</th></tr></thead><tbody>`;
  let told = 0;
  try {
    let result = first;
    for (; result.done !== true; result = await findings.next()) {
      told += 1;
      yield findingRow(result.value);
    }
    const tested = result.value;
    yield html`${tested?.findings.slice(told).map(findingRow) ?? NOTHING}${TABLE_END}${tested === null ? NOTHING : conclusionView(tested)}`;
  } catch (error) {
    // So that what is said of it does not stand in the table.
    yield TABLE_END;
    throw error;
  }
}

function conclusionView({ chain, name, findings, calls, tookMs }: TestedNode): Html {
  const verdict = worstVerdict(findings);
  return html`<p role="status"><strong>${shown(name)}</strong> for ${shown(chain)}: <strong class="v-${verdict}">${CONCLUSIONS[verdict]}</strong>
<span class="soft">${count(calls)} calls, ${duration(tookMs / 1_000)}.</span></p>
<p><a href="/console/upstreams#test">Test another one</a></p>`;
}

function findingRow({ subject, verdict, found, meaning, remedy }: Finding): Html {
  return html`<tr><td><span class="v-${verdict}">${WORDS[verdict]}</span></td><td class="name">${shown(subject)}</td><td class="text">${shown(found, FOUND_MAX)}</td>
<td class="text">${meaning === null ? NOTHING : shown(meaning, FOUND_MAX)}${remedy === null ? NOTHING : html`<br>${shown(remedy, FOUND_MAX)}`}</td></tr>`;
}
