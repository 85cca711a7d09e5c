import { toQuantity } from '@chainstead/core';
import { apiActorOf, type RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type HistoricalJob, listHistoricalJobs } from '../records/historical-jobs.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { HistoricalRange, StreamServices } from '../stream-services.ts';
import { chainMember } from './block-routes.ts';
import { defineStreamRoute } from './define-stream-route.ts';
import { addressList, givenAddresses } from './given-addresses.ts';
import { idParameter } from './list-parameters.ts';
import { StreamChainError } from './stream-errors.ts';
import { ADDRESSES_BOUNDS } from './stream-response.ts';
import { existing, streamChains } from './stream-routes.ts';
import { ValidationFailedError } from './validation-failed.ts';

const TAGS = ['Stream deliveries'];
const CREATE_PATHS = ['/historicalJobs/createJob', '/historical-jobs/create-job'];

/** docs/api/streams-reference.md#stream-routes */
export function historicalJobRoutes(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const { database } = dependencies;
    const store = createStreamStore(database);
    const chainId = chainMember(streamChains(dependencies, services.chains));
    for (const path of CREATE_PATHS)
      defineStreamRoute(app, dependencies, {
        path,
        tags: TAGS,
        summary: 'Replay a stream over past blocks',
        description:
          'Set either both timestamps (Unix seconds) or both blocks, inclusive. addresses replaces the addresses of the stream for this job.',
        body: z.strictObject({ chainId, ...newJobMembers }),
        bodyBounds: ADDRESSES_BOUNDS,
        response: { description: 'The job was accepted', schema: acceptedSchema },
        errors: [404, 413, 429],
        async answer({ body: { chainId: chain, streamId, addresses, ...given }, c }) {
          const range = rangeOf(given);
          const watched = addresses === undefined ? null : givenAddresses(addresses, 'addresses');
          const stream = existing(await store.get(streamId));
          if (!stream.chainIds.includes(chain.id)) throw new StreamChainError(chain.key);
          const by = apiActorOf(c);
          const job = await services.createHistoricalJob({ stream, chain, range, addresses: watched, by });
          if (job === null)
            throw new ValidationFailedError([{ path: '', message: 'there is no block in this range' }]);
          const { id, totalBlocks, totalJobs } = job;
          const message = `The stream is replayed over ${totalBlocks} blocks`;
          return { id, message, totalJobs, totalBlocks, totalPartitions: totalJobs };
        },
      });
    defineStreamRoute(app, dependencies, {
      path: '/historical-jobs',
      operationId: 'GetJobs',
      tags: TAGS,
      summary: 'List the newest 1,000 historical jobs',
      query: { streamId: idParameter().optional() },
      response: { description: 'The historical jobs, newest first', schema: z.array(jobSchema) },
      answer: async ({ streamId = null }) => (await listHistoricalJobs(database, streamId)).map(jobResponse),
    });
  };
}

const quantity = z.int().min(0);

const newJobMembers = {
  streamId: idParameter(),
  fromTimestamp: quantity.optional(),
  toTimestamp: quantity.optional(),
  blockFrom: quantity.optional(),
  blockTo: quantity.optional(),
  addresses: addressList.optional(),
};

const acceptedSchema = z
  .object({
    id: z.uuid(),
    message: z.string(),
    totalJobs: z.int(),
    totalBlocks: z.int(),
    totalPartitions: z.int(),
  })
  .openapi('AcceptedHistoricalJob');

type GivenRange = {
  readonly [Member in 'fromTimestamp' | 'toTimestamp' | 'blockFrom' | 'blockTo']?: number | undefined;
};

/** @throws ValidationFailedError unless given one kind of range, ascending */
function rangeOf({ fromTimestamp, toTimestamp, blockFrom, blockTo }: GivenRange): HistoricalRange {
  const byTime = fromTimestamp !== undefined || toTimestamp !== undefined;
  const byBlock = blockFrom !== undefined || blockTo !== undefined;
  const refuse = (path: string, message: string, value?: unknown): never => {
    throw new ValidationFailedError([{ path, message, value }]);
  };
  if (byTime && byBlock) return refuse('blockFrom', 'may not be given together with timestamps', blockFrom);
  if (byBlock) {
    if (blockFrom === undefined) return refuse('blockFrom', "'blockFrom' is required");
    if (blockTo === undefined) return refuse('blockTo', "'blockTo' is required");
    if (blockTo < blockFrom) return refuse('blockTo', 'must not be lower than blockFrom', blockTo);
    return { fromBlock: blockFrom, toBlock: blockTo };
  }
  if (fromTimestamp === undefined) return refuse('fromTimestamp', "'fromTimestamp' is required");
  if (toTimestamp === undefined) return refuse('toTimestamp', "'toTimestamp' is required");
  if (toTimestamp < fromTimestamp)
    return refuse('toTimestamp', 'must not be lower than fromTimestamp', toTimestamp);
  return { fromTimestamp, toTimestamp };
}

function jobResponse(job: HistoricalJob) {
  return {
    id: job.id,
    streamId: job.streamId,
    chainId: toQuantity(job.chainId),
    fromBlock: job.fromBlock,
    toBlock: job.toBlock,
    ...(job.fromTimestamp !== null && { fromTimestamp: job.fromTimestamp }),
    ...(job.toTimestamp !== null && { toTimestamp: job.toTimestamp }),
    ...(job.addresses !== null && { addresses: [...job.addresses] }),
    jobs: 1,
    jobsCompleted: job.status === 'done' ? 1 : 0,
    totalBlocks: job.toBlock - job.fromBlock + 1,
    blocksCompleted: Math.max(0, Math.min(job.nextBlock, job.toBlock + 1) - job.fromBlock),
    matches: job.matches,
    status: job.status,
    ...(job.errorMessage !== null && { errorMessage: job.errorMessage }),
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
  };
}

const jobSchema = z
  .object({
    id: z.uuid(),
    streamId: z.uuid(),
    chainId: z.string(),
    fromBlock: z.int(),
    toBlock: z.int(),
    fromTimestamp: z
      .int()
      .optional()
      .openapi({ description: 'Unix seconds, as in the request. Only for jobs by time.' }),
    toTimestamp: z.int().optional(),
    addresses: z.array(z.string()).optional().openapi({ description: 'Only for jobs with their own addresses.' }),
    jobs: z.int(),
    jobsCompleted: z.int(),
    totalBlocks: z.int(),
    blocksCompleted: z.int(),
    matches: z.int().openapi({ description: 'Number of blocks matched so far.' }),
    status: z.enum(['pending', 'running', 'done', 'failed']),
    errorMessage: z.string().optional(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('HistoricalJob');
