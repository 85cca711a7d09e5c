import { ChainsteadError, type Logger, toQuantity } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { defineApiError, RateLimitedError, spendNodeCalls } from '@chainstead/http';
import { RpcCallError } from '@chainstead/rpc';
import type { WatchedBlock } from '@chainstead/sync';
import type { EnrichMatch } from '../enrichment/enrich-match.ts';
import { compileStream } from '../matching/compile-stream.ts';
import { BLOCK_BUDGET, type WorkBudget } from '../matching/work-budget.ts';
import { finishBody, renderBody } from '../payload/render-body.ts';
import { auditStream, holdStreamsVersion } from '../records/stream-addresses.ts';
import { REPLAYS_PER_KEY, requireRoomForReplay } from '../records/stream-bounds.ts';
import type { OffersTraces, PreviewBlock, SendBlock, StreamServices } from '../stream-services.ts';
import type { BlockMatch } from '../watching/match-blocks.ts';
import { createHistoricalJobFactory, type HistoricalJobLimits } from './historical-jobs.ts';
import { createPastMatcher, type PastMatcher, recordPastMatches } from './match-past-blocks.ts';
import { chainAmong, type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';

interface PastBlockServicesOptions extends HistoricalJobLimits {
  readonly database: Database;
  readonly chains: readonly (PastChain & { readonly enrich: EnrichMatch })[];
  readonly logger: Logger;
  /** @default BLOCK_BUDGET */
  readonly budget?: WorkBudget;
}

export function createPastBlockServices(
  options: PastBlockServicesOptions,
): Pick<StreamServices, 'offersTraces' | 'previewBlock' | 'sendBlock' | 'createHistoricalJob'> {
  return {
    offersTraces: createOffersTraces(options.chains),
    previewBlock: createPreviewBlock(options),
    sendBlock: createSendBlock(options),
    createHistoricalJob: createHistoricalJobFactory(options),
  };
}

/** Exceeds every wait: a preview omits values that nodes don't return. */
const WAITED_LONG_MS = Number.MAX_SAFE_INTEGER;

function createPreviewBlock(options: PastBlockServicesOptions): PreviewBlock {
  const { database, chains, logger, budget = BLOCK_BUDGET } = options;
  return async ({ chain, blockNumber, config, addresses, streamId = '' }) => {
    const past = chainAmong(chains, chain);
    const stream = { ...config, id: streamId };
    const matcher = createPastMatcher(
      { ...past, logger },
      { streams: [compileStream(stream)], addresses, budget },
    );
    await requireNodeCalls(CALLS_PER_BLOCK);
    const read = await matcher.read(blockNumber);
    if (read === null) return { found: false };
    const matched = await matchWithin(options, matcher, read);
    if (matched === undefined) return { found: true, body: null };
    const { match } = matched;
    const { number, hash, timestamp } = read.header;
    const block = { number, hash, timestamp };
    const request = { match, stream, block, waitedMs: WAITED_LONG_MS, willCall: requireNodeCalls };
    const enriched = await past.enrich(request, new AbortController().signal);
    const { confirmed } = await readFollowedHeight(database, past, 'look');
    const body = renderBody({ stream, match, chain, block, enriched });
    return { found: true, body: JSON.parse(finishBody(body, { confirmed: number <= confirmed, retries: 0 })) };
  };
}

function createSendBlock(options: PastBlockServicesOptions): SendBlock {
  const { database, chains, logger, budget = BLOCK_BUDGET } = options;
  return async ({ chain, blockNumber, stream, by }) => {
    const past = chainAmong(chains, chain);
    const matcher = createPastMatcher(
      { ...past, logger },
      { streams: [compileStream(stream)], addresses: null, budget },
    );
    await requireNodeCalls(CALLS_PER_BLOCK);
    const block = await matcher.read(blockNumber);
    if (block === null) return false;
    const match = await matchWithin(options, matcher, block);
    const matches = match === undefined ? [] : [match];
    return database.transaction(async (transaction) => {
      await requireRoomForReplay(transaction, by.id, REPLAYS_PER_KEY);
      const { followed, confirmed } = await readFollowedHeight(transaction, past, 'hold');
      if (blockNumber > followed) return false;
      await holdStreamsVersion(transaction);
      await requireCanonical(transaction, chain, [block]);
      const kind = blockNumber <= confirmed ? 'confirmed' : 'unconfirmed';
      await recordPastMatches(transaction, chain, kind, matches, by.id);
      const details = { webhooks: matches.length, chain: chain.id, block: blockNumber };
      if (matches.length > 0) await auditStream(transaction, by, 'stream.replay', stream.id, details);
      return true;
    });
  };
}

/** Block, receipts and traces. */
const CALLS_PER_BLOCK = 3;

/** Counts against the key of the request. @throws RateLimitedError */
async function requireNodeCalls(calls: number): Promise<void> {
  const waitMs = await spendNodeCalls(calls);
  if (waitMs > 0) throw new RateLimitedError(Math.max(1, Math.ceil(waitMs / 1_000)));
}

/** @throws MatchTooLongError */
async function matchWithin(
  { database }: PastBlockServicesOptions,
  matcher: PastMatcher,
  block: WatchedBlock,
): Promise<BlockMatch | undefined> {
  const { matches, deferred } = await matcher.match(database, [block]);
  if (deferred.length > 0) throw new MatchTooLongError(block.header.number);
  return matches[0];
}

class MatchTooLongError extends defineApiError('STREAM_MATCH_TOO_LONG', (blockNumber: number) => ({
  status: 400,
  message: `Matching block ${blockNumber} needs more work than a key may cause per block. A stream matches such blocks later`,
  details: { block: blockNumber },
  remedy: 'Replay the block with a historical job, or use fewer filters and addresses',
})) {}

/** False only if the upstreams refuse traces of the head. @throws ChainNotServedError */
export function createOffersTraces(chains: readonly PastChain[]): OffersTraces {
  const offering = new Set<PastChain>();
  return async (chain) => {
    const past = chainAmong(chains, chain);
    if (offering.has(past)) return true;
    const offered = await requested(past);
    if (offered === true) offering.add(past);
    return offered !== false;
  };
}

async function requested({ pool }: PastChain): Promise<boolean | null> {
  try {
    const { number, hash } = (await pool.getHead()).value;
    const calls = [
      ['debug_traceBlockByHash', [hash, { tracer: 'callTracer' }]],
      ['trace_block', [toQuantity(number)]],
    ] as const;
    for (const [method, params] of calls) if (await isAnswered(pool, method, params)) return true;
    return false;
  } catch (error) {
    if (error instanceof ChainsteadError && error.retryable) return null;
    throw error;
  }
}

async function isAnswered(pool: PastChain['pool'], method: string, params: readonly unknown[]): Promise<boolean> {
  try {
    await pool.request(method, params);
    return true;
  } catch (error) {
    if (error instanceof RpcCallError) return false;
    throw error;
  }
}
