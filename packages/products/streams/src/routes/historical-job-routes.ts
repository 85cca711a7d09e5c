import { apiActorOf, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type HistoricalJob, listHistoricalJobs } from '../records/historical-jobs.ts';
import { createStreamStore } from '../records/stream-store.ts';
import type { HistoricalRange } from '../stream-services.ts';
import { chainMember } from './block-routes.ts';
import { defineStreamRoute, idParameter } from './define-stream-route.ts';
import { addressList, existing, givenAddresses, StreamChainError } from './stream-errors.ts';
import { ADDRESSES_BOUNDS, id, time } from './stream-response.ts';
import type { StreamChains } from './stream-schema.ts';
import { ValidationFailedError } from './validation-failed.ts';

const tag = 'Stream deliveries';

const createJob = (path: string, chains: StreamChains) =>
  defineStreamRoute({
    path,
    tag,
    summary: 'Replay a stream over past blocks',
    description:
      'Set either both timestamps (Unix seconds) or both blocks, inclusive. addresses replaces the addresses of the stream for this job.',
    body: z.strictObject({ chainId: chainMember(chains), ...newJobMembers }),
    bodyBounds: ADDRESSES_BOUNDS,
    response: { description: 'The job was accepted', schema: acceptedSchema },
    errors: [404, 413, 429],
    async answer({ database, services, body: { chainId: chain, streamId, addresses, ...given }, c }) {
      const range = rangeOf(given);
      const watched = addresses === undefined ? null : givenAddresses(addresses, 'addresses');
      const stream = existing(await createStreamStore(database).get(streamId));
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

const bound = z.int().min(0).optional();

const newJobMembers = {
  streamId: idParameter(),
  fromTimestamp: bound,
  toTimestamp: bound,
  blockFrom: bound,
  blockTo: bound,
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

const { integer, quantity, text } = wire;
const addressesOf = wire.wire(z.array(z.string()).readonly());
const statusOf = wire.wire(z.enum(['pending', 'running', 'done', 'failed']));

const jobView = view('HistoricalJob', (job: HistoricalJob) => job, {
  id: id(),
  streamId: id(),
  chainId: quantity(),
  fromBlock: integer('First block of the job.'),
  toBlock: integer('Last block of the job.'),
  fromTimestamp: integer.orAbsent('Unix seconds, as in the request. Only for jobs by time.'),
  toTimestamp: integer.orAbsent(),
  addresses: addressesOf.orAbsent('Only for jobs with their own addresses.'),
  jobs: integer('Number of parts of the job.', () => 1),
  jobsCompleted: integer('Number of finished parts.', ({ status }) => (status === 'done' ? 1 : 0)),
  totalBlocks: integer(({ fromBlock, toBlock }) => toBlock - fromBlock + 1),
  blocksCompleted: integer('Number of blocks read.', ({ fromBlock, toBlock, nextBlock }) =>
    Math.max(0, Math.min(nextBlock, toBlock + 1) - fromBlock),
  ),
  matches: integer('Number of blocks matched so far.'),
  status: statusOf(),
  errorMessage: text.orAbsent(),
  createdAt: time(),
  updatedAt: time(),
});

const listJobs = defineStreamRoute({
  path: '/historical-jobs',
  operationId: 'GetJobs',
  tag,
  summary: 'List the newest 1,000 historical jobs',
  query: [{ streamId: idParameter().optional() }],
  response: { description: 'The historical jobs, newest first', schema: z.array(jobView.schema) },
  answer: async ({ database, streamId = null }) =>
    (await listHistoricalJobs(database, streamId)).map((job) => jobView.show(job)),
});

/** docs/api/streams-reference.md#stream-routes */
export const historicalJobRoutes = (chains: StreamChains) => [
  createJob('/historicalJobs/createJob', chains),
  createJob('/historical-jobs/create-job', chains),
  listJobs,
];
