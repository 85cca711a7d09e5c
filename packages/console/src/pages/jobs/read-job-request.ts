import type { BlockRange } from '@chainstead/core';
import type { RangeWork } from '@chainstead/sync';
import { z } from 'zod';
import type { ChainFacts } from '../overview/read-overview.ts';
import type { JobChain } from './job-chains.ts';

const text = z.string().trim().max(100);

/** What the form asks with, as it is sent. */
export const jobForm = z.object({ work: text, chain: text, dataset: text, from: text, to: text });
export type JobForm = z.infer<typeof jobForm>;

export const EMPTY_FORM: JobForm = { work: 'backfill', chain: '', dataset: '', from: '', to: '' };

/** Work that can be asked for. */
export interface JobRequest {
  readonly chain: JobChain;
  readonly work: RangeWork;
  /** Null: all that are kept. */
  readonly dataset: string | null;
  readonly range: BlockRange;
}

/** The request, or what is wrong with the form, in words. */
export type ReadJobRequest =
  | { readonly request: JobRequest; readonly problem: null }
  | { readonly request: null; readonly problem: string };

const DIGITS = /^\d{1,15}$/;

/** Pure. @param facts what is known of the form's chain; null: it was never ingested */
export function readJobRequest(form: JobForm, chains: readonly JobChain[], facts: ChainFacts | null): ReadJobRequest {
  const refuse = (problem: string): ReadJobRequest => ({ request: null, problem });
  const chain = chains.find(({ name }) => name === form.chain);
  if (chain === undefined)
    return refuse(`Choose a chain: ${chains.map(({ name }) => name).join(', ') || 'none is configured (CHAINS)'}.`);
  const work = chain.works.find((one) => one === form.work);
  if (work === undefined) return refuse(`Of ${chain.name}, choose ${chain.works.join(', ')}.`);
  if (form.dataset !== '' && !chain.datasets.includes(form.dataset))
    return refuse(`This dataset is not kept of ${chain.name}. Choose all, or one of ${chain.datasets.join(', ')}.`);
  if (!DIGITS.test(form.from) || !DIGITS.test(form.to))
    return refuse('From and to are block numbers (of Aptos: versions), whole numbers such as 18000000.');
  const range = { from: Number(form.from), to: Number(form.to) };
  if (range.to < range.from) return refuse('The last block is below the first: exchange the two.');
  const highest = facts === null ? null : highestFinal(facts);
  if (highest !== null && range.to > highest)
    return refuse(
      `Of ${chain.name}, blocks up to ${highest} can be worked on: what is above is followed. Give that, or less, as the last.`,
    );
  return { request: { chain, work, dataset: form.dataset === '' ? null : form.dataset, range }, problem: null };
}

/** What is above may be taken back yet; the job itself looks again, with the nodes. Null: unknown. */
function highestFinal({ status }: ChainFacts): number | null {
  if (!('firstFollowed' in status)) return status.head;
  return Math.max(status.firstFollowed - 1, status.checkpoint ?? -1);
}
