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

/** What came of trying a node. */
export function nodeReportView({ chain, name, findings, calls, tookMs }: TestedNode): Html {
  const verdict = worstVerdict(findings);
  return html`<h1>Test of a node</h1>
<p><strong>${shown(name)}</strong> for ${shown(chain)}: <strong class="v-${verdict}">${CONCLUSIONS[verdict]}</strong>
<span class="soft">${count(calls)} calls, ${duration(tookMs / 1_000)}.</span></p>
<div class="table" tabindex="0" role="region" aria-label="Findings"><table><thead><tr><th scope="col">Verdict</th><th scope="col">Of what</th><th scope="col">Found</th><th scope="col">What it means, and what to do</th></tr></thead><tbody>${findings.map(findingRow)}</tbody></table></div>
<p><a href="/console/upstreams#test">Test another one</a></p>`;
}

function findingRow({ subject, verdict, found, meaning, remedy }: Finding): Html {
  return html`<tr><td><span class="v-${verdict}">${WORDS[verdict]}</span></td><td class="name">${shown(subject)}</td><td class="text">${shown(found, FOUND_MAX)}</td>
<td class="text">${meaning === null ? NOTHING : shown(meaning, FOUND_MAX)}${remedy === null ? NOTHING : html`<br>${shown(remedy, FOUND_MAX)}`}</td></tr>`;
}
