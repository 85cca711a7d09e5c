import { RANGE_WORKS } from '@chainstead/sync';
import { html } from 'hono/html';
import { changeForm } from '../../layout/form.ts';
import { cut, type Html, NOTHING, shown } from '../../layout/html.ts';
import { count, duration } from '../../layout/numbers.ts';
import { selectField } from '../../layout/select-field.ts';
import type { JobChain } from './job-chains.ts';
import type { JobForm, JobRequest } from './read-job-request.ts';

/** The estimated cost of a job. */
export interface Estimate {
  readonly requested: JobRequest;
  readonly blocks: number;
  /** The requested blocks that are actually read. */
  readonly read: number;
  /** Node calls; null: unknown. */
  readonly calls: { readonly min: number; readonly max: number } | null;
  /** Blocks, from the chain's recent jobs of this kind; null: there was none. */
  readonly perSecond: number | null;
}

export interface AskView {
  readonly chains: readonly JobChain[];
  readonly form: JobForm;
  /** Why the job is not possible. */
  readonly problem: string | null;
  /** Shown before the job is created. */
  readonly estimate: Estimate | null;
  readonly token: string;
}

/** Creating a job in two steps: its cost, then a confirmation. */
export function askView({ chains, form, problem, estimate, token }: AskView): Html {
  const datasets = [...new Set(chains.flatMap((chain) => chain.datasets))];
  const number = (name: 'from' | 'to', label: string): Html =>
    html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" inputmode="numeric" pattern="[0-9]*" maxlength="15" required value="${cut(form[name], 15)}" autocomplete="off"></div>`;
  return html`<section aria-labelledby="ask"><h2 id="ask">Start a job</h2>
${problem === null ? NOTHING : html`<p class="problem" role="alert">${shown(problem, 1_000)}</p>`}
<form method="get" action="/console/jobs/estimate" class="fields row" aria-label="Range job">
${selectField({ name: 'work', label: 'Work', options: RANGE_WORKS.map((work) => [work, MEANINGS[work]] as const), chosen: form.work })}
${selectField({ name: 'chain', label: 'Chain', options: chains.map(({ name }) => name), chosen: form.chain })}
${selectField({ name: 'dataset', label: 'Dataset', options: datasets, chosen: form.dataset, all: 'all' })}
${number('from', 'From')}
${number('to', 'To (inclusive)')}
<div><button class="${estimate === null ? '' : 'quiet'}">Estimate cost</button></div></form>
${estimate === null ? NOTHING : estimateView(estimate, form, token)}</section>`;
}

const MEANINGS = {
  backfill: 'Backfill missing blocks',
  verify: 'Verify, and repair mismatches',
  reindex: 'Reindex: fetch again and replace rows',
} as const;

function estimateView({ requested, blocks, read, calls, perSecond }: Estimate, form: JobForm, token: string): Html {
  const { chain, work, dataset } = requested;
  const left = blocks - read;
  const hidden = Object.entries(form).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const nothing = { backfill: 'already covered', verify: 'not covered: backfill them first', reindex: 'skipped' }[work];
  return html`<div class="card" role="status"><h3>${MEANINGS[work]}: ${shown(chain.name)}, ${dataset === null ? 'all datasets' : shown(dataset)}</h3>
<dl class="facts narrow">
<dt>Blocks</dt><dd>${count(blocks)}${left > 0 ? html`, of which ${count(left)} are ${nothing}` : NOTHING}</dd>
<dt>RPC calls</dt><dd>${callsText(calls)}</dd>
<dt>Duration</dt><dd>${perSecond === null ? 'unknown: no such job of this chain has finished yet' : `about ${duration(read / perSecond)}, at the speed of recent jobs of this chain`}</dd>
</dl>
<p class="soft">The role <code>ingest</code> runs one job per chain at a time, next to its other work. If you cancel the job, its written rows stay.</p>
${changeForm('/console/jobs/create', token, html`${hidden}<button>Start</button>`, 'Start the job')}</div>`;
}

function callsText(calls: Estimate['calls']): Html | string {
  if (calls === null) return 'about one per few hundred versions';
  if (calls.max === 0) return 'none';
  if (calls.min === calls.max) return html`about ${count(calls.max)}`;
  return html`from ${count(calls.min)} (empty blocks) to ${count(calls.max)} (full blocks)`;
}
