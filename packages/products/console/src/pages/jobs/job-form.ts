import { type AptosNetwork, chainKeyOf } from '@chainstead/aptos';
import type { Chain } from '@chainstead/chains';
import type { BlockRange } from '@chainstead/core';
import { type Dataset, datasetsOf } from '@chainstead/sync/datasets';
import { RANGE_WORKS, type RangeWork } from '@chainstead/sync/ingest';
import { html } from 'hono/html';
import { z } from 'zod';
import { button, type Control, changeForm, formFields, labeled, queryForm } from '../../layout/form.ts';
import { cut, factList, type Html, note, problem, section, shown } from '../../layout/html.ts';
import { count, duration } from '../../layout/numbers.ts';
import type { ChainFacts } from '../overview/read-overview.ts';

export interface Estimate {
  readonly requested: JobRequest;
  readonly blocks: number;
  readonly read: number;
  readonly calls: { readonly min: number; readonly max: number } | null;
  readonly perSecond: number | null;
}

export interface AskView {
  readonly chains: readonly JobChain[];
  readonly form: JobForm;
  readonly problem: string | null;
  readonly estimate: Estimate | null;
  readonly token: string;
}

export function askView({ chains, form, problem: refusal, estimate, token }: AskView): Html {
  const datasets = [...new Set(chains.flatMap((chain) => chain.datasets))];
  const fields = formFields(jobForm, {
    values: { ...form, from: cut(form.from, 15), to: cut(form.to, 15) },
    options: { chain: chains.map(({ name }) => name), dataset: datasets },
  });
  const submit = button('Estimate cost', estimate === null ? undefined : 'quiet');
  return section(
    'ask',
    'Start a job',
    refusal !== null && problem(shown(refusal, 1_000)),
    queryForm('/console/jobs/estimate', 'Range job', fields, submit),
    estimate !== null && estimateView(estimate, form, token),
  );
}

const MEANINGS = {
  backfill: 'Backfill missing blocks',
  verify: 'Verify, and repair mismatches',
  reindex: 'Reindex: fetch again and replace rows',
} as const;

function estimateView(
  { requested, blocks, read, calls, perSecond }: Estimate,
  form: JobForm,
  token: string,
): Html {
  const { chain, work, dataset } = requested;
  const left = blocks - read;
  const callText = calls === null ? 'about one per few hundred versions' : callsText(calls);
  const nothing = { backfill: 'already covered', verify: 'not covered: backfill them first', reindex: 'skipped' }[
    work
  ];
  return html`<div class="card" role="status"><h3>${MEANINGS[work]}: ${shown(chain.name)}, ${dataset === null ? 'all datasets' : shown(dataset)}</h3>
${factList('narrow', [
  ['Blocks', html`${count(blocks)}${left > 0 && html`, of which ${count(left)} are ${nothing}`}`],
  ['RPC calls', callText],
  [
    'Duration',
    perSecond === null
      ? 'unknown: no such job of this chain has finished yet'
      : `about ${duration(read / perSecond)}, at the speed of recent jobs of this chain`,
  ],
])}
${note('The role `ingest` runs one job per chain at a time, next to its other work. If you cancel the job, its written rows stay.')}
${changeForm('/console/jobs/create', token, form, button('Start'), 'Start the job')}</div>`;
}

function callsText({ min, max }: NonNullable<Estimate['calls']>): Html {
  if (max === 0) return html`none`;
  return min === max
    ? html`about ${count(max)}`
    : html`from ${count(min)} (empty blocks) to ${count(max)} (full blocks)`;
}

const member = (control: Control) => labeled(control, z.string().trim().max(100));
const BLOCK = {
  digits: true,
  attributes: 'pattern="[0-9]*" maxlength="15" required autocomplete="off"',
} as const;

export const jobForm = z.object({
  work: member({ label: 'Work', options: RANGE_WORKS.map((work) => [work, MEANINGS[work]] as const) }),
  chain: member({ label: 'Chain', options: [] }),
  dataset: member({ label: 'Dataset', options: [], all: 'all' }),
  from: member({ label: 'From', ...BLOCK }),
  to: member({ label: 'To (inclusive)', ...BLOCK }),
});
export type JobForm = z.infer<typeof jobForm>;

export const EMPTY_FORM: JobForm = { work: 'backfill', chain: '', dataset: '', from: '', to: '' };

export interface JobRequest {
  readonly chain: JobChain;
  readonly work: RangeWork;
  readonly dataset: string | null;
  readonly range: BlockRange;
}

const DIGITS = /^\d{1,15}$/;

/** A text is the problem with the form. */
export function readJobRequest(
  form: JobForm,
  chains: readonly JobChain[],
  facts: ChainFacts | null,
): JobRequest | string {
  const chain = chains.find(({ name }) => name === form.chain);
  if (chain === undefined)
    return `Choose a chain: ${chains.map(({ name }) => name).join(', ') || 'none is configured (CHAINS)'}.`;
  const work = chain.works.find((name) => name === form.work);
  if (work === undefined) return `On ${chain.name}, choose ${chain.works.join(', ')}.`;
  if (form.dataset !== '' && !chain.datasets.includes(form.dataset))
    return `This dataset is not stored for ${chain.name}. Choose all, or one of ${chain.datasets.join(', ')}.`;
  if (!DIGITS.test(form.from) || !DIGITS.test(form.to))
    return 'From and to must be block numbers (Aptos: versions): whole numbers such as 18000000.';
  const range = { from: Number(form.from), to: Number(form.to) };
  if (range.to < range.from) return 'The last block is below the first. Swap them.';
  // Blocks above may be rolled back; the job checks again, with the nodes.
  const status = facts?.status;
  const isFollowed = status !== undefined && 'firstFollowed' in status;
  const highest = isFollowed
    ? Math.max(status.firstFollowed - 1, status.checkpoint ?? -1)
    : (status?.head ?? null);
  if (highest !== null && range.to > highest)
    return `On ${chain.name}, jobs can use blocks up to ${highest}. Newer blocks are not final. Choose a lower last block.`;
  return { chain, work, dataset: form.dataset || null, range };
}

export interface RangeWorkOffer {
  readonly chains: readonly Chain[];
  readonly datasets: readonly Dataset[];
  readonly backfillProofOf: (chain: Chain) => 'none' | 'receipts';
  readonly aptos: { readonly networks: readonly AptosNetwork[]; readonly datasets: readonly string[] };
}

interface JobChain {
  readonly name: string;
  readonly id: string;
  readonly works: readonly RangeWork[];
  readonly datasets: readonly string[];
  /** Null: Aptos. */
  readonly chain: Chain | null;
}

export function jobChains({ chains, datasets, aptos }: RangeWorkOffer): JobChain[] {
  return [
    ...chains.map((chain) => ({
      name: chain.key,
      id: String(chain.id),
      works: RANGE_WORKS,
      datasets: datasetsOf(chain, datasets).map(({ name }) => name),
      chain,
    })),
    ...aptos.networks.map(chainKeyOf).map((name) => {
      return { name, id: name, works: ['backfill' as const], datasets: aptos.datasets, chain: null };
    }),
  ];
}
