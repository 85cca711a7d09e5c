import { RANGE_WORKS } from '@chainstead/sync';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import type { JobChain } from './job-chains.ts';
import type { JobForm, JobRequest } from './read-job-request.ts';

/** What work costs that is asked for. */
export interface Estimate {
  readonly asked: JobRequest;
  readonly blocks: number;
  /** Of those, the ones that are read at all. */
  readonly read: number;
  /** Of nodes; null: unknown. */
  readonly calls: { readonly min: number; readonly max: number } | null;
  /** Blocks, as such jobs of the chain went last; null: there was none. */
  readonly perSecond: number | null;
}

export interface AskView {
  readonly chains: readonly JobChain[];
  readonly form: JobForm;
  /** Why it can't be asked for so. */
  readonly problem: string | null;
  /** To be looked at before it is asked for. */
  readonly estimate: Estimate | null;
  readonly token: string;
}

/** Asking for work in two steps: what it costs, then whether it is wanted. */
export function askView({ chains, form, problem, estimate, token }: AskView): Html {
  const datasets = [...new Set(chains.flatMap((chain) => chain.datasets))];
  const number = (name: 'from' | 'to', label: string): Html =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="numeric" pattern="[0-9]*" maxlength="15" required value="${cut(form[name], 15)}" autocomplete="off"></div>`;
  return html`<section aria-labelledby="ask"><h2 id="ask">Fill, verify or read ranges anew</h2>
${problem === null ? NOTHING : html`<p class="problem" role="alert">${shown(problem, 1_000)}</p>`}
<form method="get" action="/console/jobs/estimate" class="fields row" aria-label="Ask for work on a range">
${selectField({ name: 'work', label: 'Work', options: RANGE_WORKS.map((work) => [work, MEANINGS[work]] as const), chosen: form.work })}
${selectField({ name: 'chain', label: 'Chain', options: chains.map(({ name }) => name), chosen: form.chain })}
${selectField({ name: 'dataset', label: 'Dataset', options: datasets, chosen: form.dataset, all: 'all' })}
${number('from', 'From')}
${number('to', 'To, included')}
<div><button class="${estimate === null ? '' : 'quiet'}">What does it cost?</button></div></form>
${estimate === null ? NOTHING : estimateView(estimate, form, token)}</section>`;
}

const MEANINGS = {
  backfill: 'Fill what is missing',
  verify: 'Verify, and repair what differs',
  reindex: 'Read anew, and replace',
} as const;

function estimateView({ asked, blocks, read, calls, perSecond }: Estimate, form: JobForm, token: string): Html {
  const { chain, work, dataset } = asked;
  const left = blocks - read;
  const hidden = Object.entries(form).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const nothing = { backfill: 'covered already', verify: 'not covered: fill those first', reindex: 'left alone' }[work];
  return html`<div class="card" role="status"><h3>${MEANINGS[work]}: ${shown(chain.name)}, ${dataset === null ? 'all datasets' : shown(dataset)}</h3>
<dl class="facts narrow">
<dt>Blocks</dt><dd>${count(blocks)}${left > 0 ? html`, of which ${count(left)} are ${nothing}` : NOTHING}</dd>
<dt>Calls of nodes</dt><dd>${callsText(calls)}</dd>
<dt>Takes</dt><dd>${perSecond === null ? 'unknown: no such job of this chain has ended yet' : `about ${duration(read / perSecond)}, as the last ones of this chain went`}</dd>
</dl>
<p class="soft">Done by a process of the role <code>ingest</code>, one job of a chain at a time, beside everything else. It can be cancelled: what it has written stays.</p>
${changeForm('/console/jobs/create', token, html`${hidden}<button>Start</button>`, 'Start the work')}</div>`;
}

function callsText(calls: Estimate['calls']): Html | string {
  if (calls === null) return 'one for some hundred versions';
  if (calls.max === 0) return 'none';
  if (calls.min === calls.max) return html`about ${count(calls.max)}`;
  return html`from ${count(calls.min)} where blocks are empty, to ${count(calls.max)} where each is full`;
}
