import type { Chain } from '@chainstead/chains';
import { isAddress } from '@chainstead/core';
import type { JobQueue, Jobs, QueueOptions } from '@chainstead/jobs';
import { z } from 'zod';
import type { TokenKey } from './token-rows.ts';

const address = z.string().refine(isAddress);
const jobSchema = z.discriminatedUnion('kind', [
  /** Turns rows that are due into jobs. */
  z.object({ kind: z.literal('sweep') }),
  z.object({ kind: z.literal('collection'), address }),
  z.object({
    kind: z.literal('token'),
    address,
    tokenId: z.string().regex(/^\d{1,78}$/),
  }),
]);
export type MetadataJob = z.infer<typeof jobSchema>;

/**
 * The queue of one chain, so that a chain whose upstreams fail delays no other. A job names a row; whether there is something to
 * do is the row's matter, so a job that is lost, or comes twice, does no harm.
 */
export function openMetadataQueue(
  jobs: Jobs,
  chain: Chain,
  options: Pick<QueueOptions<MetadataJob>, 'lockMs'> = {},
): JobQueue<MetadataJob> {
  return jobs.queue<MetadataJob>(`nft-metadata-${chain.key}`, { schema: jobSchema, ...options });
}

/** A collection's job: one at a time, however many ask. */
export function collectionJobId(contract: string): string {
  return `collection:${contract}`;
}

export function tokenJobId({ address: contract, tokenId }: TokenKey): string {
  return `token:${contract}:${tokenId}`;
}
