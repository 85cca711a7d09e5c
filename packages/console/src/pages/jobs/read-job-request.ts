import type { BlockRange } from '@chainstead/core';
import type { RangeWork } from '@chainstead/sync';
import { z } from 'zod';
import type { ChainFacts } from '../overview/read-overview.ts';
import type { JobChain } from './job-chains.ts';

const text = z.string().trim().max(100);

/** The form's fields, as they are sent. */
export const jobForm = z.object({ work: text, chain: text, dataset: text, from: text, to: text });
export type JobForm = z.infer<typeof jobForm>;

export const EMPTY_FORM: JobForm = { work: 'backfill', chain: '', dataset: '', from: '', to: '' };

/** A valid job request. */
export interface JobRequest {
  readonly chain: JobChain;
  readonly work: RangeWork;
  /** Null: all stored ones. */
  readonly dataset: string | null;
  readonly range: BlockRange;
}

/** The request, or what is wrong with the form, in words. */
export type ReadJobRequest =
  | { readonly request: JobRequest; readonly problem: null }
  | { readonly request: null; readonly problem: string };

const DIGITS = /^\d{1,15}$/;

/** Pure. @param facts of the form's chain; null: it was never ingested */
export function readJobRequest(form: JobForm, chains: readonly JobChain[], facts: ChainFacts | null): ReadJobRequest {
  const refuse = (problem: string): ReadJobRequest => ({ request: null, problem });
  const chain = chains.find(({ name }) => name === form.chain);
  if (chain === undefined)
    return refuse(`Choose a chain: ${chains.map(({ name }) => name).join(', ') || 'none is configured (CHAINS)'}.`);
  const work = chain.works.find((one) => one === form.work);
  if (work === undefined) return refuse(`On ${chain.name}, choose ${chain.works.join(', ')}.`);
  if (form.dataset !== '' && !chain.datasets.includes(form.dataset))
    return refuse(`This dataset is not stored for ${chain.name}. Choose all, or one of ${chain.datasets.join(', ')}.`);
  if (!DIGITS.test(form.from) || !DIGITS.test(form.to))
    return refuse('From and to must be block numbers (Aptos: versions): whole numbers such as 18000000.');
  const range = { from: Number(form.from), to: Number(form.to) };
  if (range.to < range.from) return refuse('The last block is below the first. Swap them.');
  const highest = facts === null ? null : highestFinal(facts);
  if (highest !== null && range.to > highest)
    return refuse(
      `On ${chain.name}, jobs can use blocks up to ${highest}. Newer blocks are not final. Choose a lower last block.`,
    );
  return { request: { chain, work, dataset: form.dataset === '' ? null : form.dataset, range }, problem: null };
}

/** Blocks above may still be rolled back; the job itself checks again, with the nodes. Null: unknown. */
function highestFinal({ status }: ChainFacts): number | null {
  if (!('firstFollowed' in status)) return status.head;
  return Math.max(status.firstFollowed - 1, status.checkpoint ?? -1);
}
