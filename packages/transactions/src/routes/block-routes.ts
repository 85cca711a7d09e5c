import type { Chain } from '@chainstead/chains';
import type { ReadDatabase } from '@chainstead/db';
import {
  type ApiContext,
  type ApiDependencies,
  errorResponses,
  indexedChain,
  NotFoundError,
  querySchema,
  type RouteModule,
  textParameter,
} from '@chainstead/http';
import { createRoute, z } from '@hono/zod-openapi';
import { callsOf } from '../abis/asked-entries.ts';
import { countStoredBlock } from '../indexed/count-stored-block.ts';
import { findStoredBlock } from '../indexed/find-stored-block.ts';
import { readInternalTransactionsOfBlock } from '../internal-transactions.ts';
import type { LookUps } from '../look-ups.ts';
import { type BlockPlace, parseBlockPlace } from '../reading/block-place.ts';
import { blockKind, type FoundBlock } from '../reading/block-reader.ts';
import { labelsOfTransactions } from '../records/address-labels.ts';
import { blockSchema, showHeader } from '../records/block-response.ts';
import { blockStatsSchema, countBlock, showBlockStats } from '../records/block-stats.ts';
import { decodedCall } from '../records/decoded-response.ts';
import { tracedMark } from '../records/internal-transaction-response.ts';
import { showTransaction } from '../records/transaction-response.ts';
import { isNotModified, NOT_MODIFIED } from './is-not-modified.ts';
import { readMarks } from './read-marks.ts';
import {
  asksInternal,
  DEFAULT_CHAIN,
  includeParameter,
  requesterOf,
  type TransactionRouteOptions,
} from './route-options.ts';

/** `GET /api/v2.2/block/{block_number_or_hash}` and `…/stats` (docs/provider-contract.md#blocks). */
export function blockRoutes(options: TransactionRouteOptions): readonly RouteModule[] {
  return [blockRoute(options), statsRoute(options)];
}

function blockRoute({ lookUps, abis }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    const { chains, reads } = dependencies;
    app.openapi(block(dependencies), async (c) => {
      const { include, ...query } = c.req.valid('query');
      const chain = indexedChain(chains, query.chain?.key ?? DEFAULT_CHAIN);
      const at = c.req.valid('param').block_number_or_hash;
      const found = await findBlock({ reads, lookUps }, c, chain, at);
      const { block: header, transactions, finalized } = found;
      const tracing = { lookUps, chain, requester: requesterOf(c) };
      const internal = asksInternal(include)
        ? await readInternalTransactionsOfBlock(tracing, { ...header, finalized })
        : undefined;
      const [labelOf, booksOf, marks] = await Promise.all([
        labelsOfTransactions(reads, chain, transactions),
        abis.forPage(reads, chain, callsOf(transactions.map((transaction) => ({ block: header, transaction })))),
        readMarks(reads, chain, header.number, found),
      ]);
      const internalOf = (hash: string) => (internal === undefined ? undefined : (internal?.get(hash) ?? null));
      const shown = transactions.map((one) => {
        const method = decodedCall(one, header.number, booksOf)?.label ?? null;
        return showTransaction(one, header, labelOf, method, internalOf(one.hash));
      });
      const head = showHeader(chain, header, transactions.length);
      const answer = { ...head, transactions: shown, ...marks, ...tracedMark(internal) };
      // What a tag names moves on, and a node with traces may be added.
      const isLasting = !isTag(at) && internal !== null;
      if (isLasting && isNotModified(c, answer)) return c.body(null, 304);
      return c.json(answer, 200);
    });
  };
}

function statsRoute({ lookUps }: TransactionRouteOptions): RouteModule {
  return (app, dependencies) => {
    app.openapi(stats(dependencies), async (c) => {
      const chain = indexedChain(dependencies.chains, c.req.valid('query').chain?.key ?? DEFAULT_CHAIN);
      const at = c.req.valid('param').block_number_or_hash;
      const stored = await countStoredBlock(dependencies.reads, chain, at);
      const counts = stored ?? countBlock(chain, await readThrough(lookUps, c, chain, at));
      return c.json(showBlockStats(counts), 200);
    });
  };
}

function isTag(at: BlockPlace): boolean {
  return typeof at === 'string' && !at.startsWith('0x');
}

/** A block, and where it was found. */
interface SourcedBlock extends FoundBlock {
  readonly source: 'indexed' | 'node';
}

/** Of the index where all of it is kept, else read from a node. */
async function findBlock(
  { reads, lookUps }: { readonly reads: ReadDatabase; readonly lookUps: LookUps },
  c: ApiContext,
  chain: Chain,
  at: BlockPlace,
): Promise<SourcedBlock> {
  const stored = await findStoredBlock(reads, chain, at);
  if (stored !== null) return { ...stored, source: 'indexed' };
  return { ...(await readThrough(lookUps, c, chain, at)), source: 'node' };
}

/** @throws NotFoundError (404) where no node has it, and as {@link LookUps.read} */
async function readThrough(lookUps: LookUps, c: ApiContext, chain: Chain, at: BlockPlace): Promise<FoundBlock> {
  const { found } = await lookUps.read({
    chain,
    kind: blockKind,
    question: { at },
    // A tag means another block after a while.
    isLasting: (answer) => !isTag(at) && answer.found?.finalized === true,
    requester: requesterOf(c),
  });
  if (found === null) throw new NotFoundError('Block not found');
  return found;
}

const PLACE = `a block number (a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, decimal or hexadecimal with 0x), a block hash (0x and 64 hexadecimal digits), latest, safe, finalized or earliest`;

const placeParameter = textParameter(PLACE, parseBlockPlace).openapi({
  type: 'string',
  description: `As ${PLACE}; latest is the newest indexed block.`,
  example: '15000000',
});

const READ =
  'Of the index where transactions and logs of the chain are all kept, else read from a node; proven by its header. 503 where reading takes longer than a request waits.';
const COUNTED =
  'Of the index where transactions and transfers of the block are all kept, else read from a node; proven by its header. 503 where reading takes longer than a request waits.';

function block({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/block/{block_number_or_hash}',
    operationId: 'getBlock',
    tags: ['Block'],
    summary: 'A block with its transactions',
    description: READ,
    request: {
      params: z.object({ block_number_or_hash: placeParameter }),
      query: querySchema({ chain: parameters.chain, include: includeParameter }),
    },
    responses: {
      200: { description: 'The block', content: { 'application/json': { schema: blockSchema } } },
      ...NOT_MODIFIED,
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}

function stats({ parameters }: ApiDependencies) {
  return createRoute({
    method: 'get',
    path: '/api/v2.2/block/{block_number_or_hash}/stats',
    operationId: 'getBlockStats',
    tags: ['Block'],
    summary: 'How many transactions and transfers a block has',
    description: COUNTED,
    request: {
      params: z.object({ block_number_or_hash: placeParameter }),
      query: querySchema({ chain: parameters.chain }),
    },
    responses: {
      200: { description: 'Numbers', content: { 'application/json': { schema: blockStatsSchema } } },
      ...errorResponses(400, 401, 404, 429, 500, 503),
    },
  });
}
