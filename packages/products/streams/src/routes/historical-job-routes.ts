import { toQuantity } from '@chainstead/core';
import { apiActorOf, errorResponses, querySchema, type RouteModule } from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { type HistoricalJob, listHistoricalJobs } from '../records/historical-jobs.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { HistoricalRange, StreamServices } from '../stream-services.ts';
import { chainMember } from './block-routes.ts';
import { addressList, givenAddresses } from './given-addresses.ts';
import { idParameter } from './list-parameters.ts';
import { StreamChainError } from './stream-errors.ts';
import { ADDRESSES_BOUNDS, answer, jsonBody } from './stream-response.ts';
import { existing, streamChains } from './stream-routes.ts';
import type { StreamChains } from './stream-schema.ts';
import { refuseInvalid, ValidationFailedError } from './validation-failed.ts';

const TAGS = ['Stream deliveries'];
const CREATE_PATHS = ['/historicalJobs/createJob', '/historical-jobs/create-job'] as const;

/** docs/api/streams-reference.md#stream-routes */
export function historicalJobRoutes(services: StreamServices): RouteModule {
  return (app, dependencies) => {
    const store = createStreamStore(dependencies.database);
    const chains = streamChains(dependencies, services.chains);
    for (const path of CREATE_PATHS)
      app.openapi(
        create(path, chains),
        async (c) => {
          const { chainId: chain, streamId, addresses, ...given } = c.req.valid('json');
          const range = rangeOf(given);
          const watched = addresses === undefined ? null : givenAddresses(addresses, 'addresses');
          const stream = existing(await store.get(streamId));
          if (!stream.chainIds.includes(chain.id)) throw new StreamChainError(chain.key);
          const by = apiActorOf(c);
          const job = await services.createHistoricalJob({ stream, chain, range, addresses: watched, by });
          if (job === null) throw new ValidationFailedError([{ path: '', message: 'there is no block in this range' }]);
          const { id, totalBlocks, totalJobs } = job;
          const message = `The stream is replayed over ${totalBlocks} blocks`;
          return c.json({ id, message, totalJobs, totalBlocks, totalPartitions: totalJobs }, 200);
        },
        refuseInvalid,
      );
    app.openapi(
      list,
      async (c) => {
        const jobs = await listHistoricalJobs(dependencies.database, c.req.valid('query').streamId ?? null);
        return c.json(jobs.map(jobResponse), 200);
      },
      refuseInvalid,
    );
  };
}

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
  if (toTimestamp < fromTimestamp) return refuse('toTimestamp', 'must not be lower than fromTimestamp', toTimestamp);
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

const quantity = z.int().min(0);

function create<const Path extends (typeof CREATE_PATHS)[number]>(path: Path, chains: StreamChains) {
  return createRoute({
    method: 'post',
    path,
    tags: TAGS,
    summary: 'Replay a stream over past blocks',
    description:
      'Set either both timestamps (Unix seconds) or both blocks, inclusive. addresses replaces the addresses of the stream for this job.',
    request: {
      body: jsonBody(
        z.strictObject({
          chainId: chainMember(chains),
          streamId: idParameter(),
          fromTimestamp: quantity.optional(),
          toTimestamp: quantity.optional(),
          blockFrom: quantity.optional(),
          blockTo: quantity.optional(),
          addresses: addressList.optional(),
        }),
      ),
    },
    ...ADDRESSES_BOUNDS,
    responses: {
      200: answer(
        'The job was accepted',
        z
          .object({
            id: z.uuid(),
            message: z.string(),
            totalJobs: z.int(),
            totalBlocks: z.int(),
            totalPartitions: z.int(),
          })
          .openapi('AcceptedHistoricalJob'),
      ),
      ...errorResponses(400, 401, 404, 413, 429, 500, 503),
    },
  });
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

const list = createRoute({
  method: 'get',
  path: '/historical-jobs',
  operationId: 'GetJobs',
  tags: TAGS,
  summary: 'List the newest 1,000 historical jobs',
  request: { query: querySchema({ streamId: idParameter().optional() }) },
  responses: {
    200: answer('The historical jobs, newest first', z.array(jobSchema)),
    ...errorResponses(400, 401, 500, 503),
  },
});
