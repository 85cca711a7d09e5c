import type { Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { EnrichMatch } from '../enrichment/enrich-match.ts';
import { finishBody, renderBody } from '../payload/render-body.ts';
import { auditStream } from '../records/audit-stream.ts';
import { REPLAYS_PER_KEY, requireRoomForReplay } from '../records/open-replays.ts';
import { holdStreamsVersion } from '../records/streams-version.ts';
import type { PreviewBlock, SendBlock, StreamServices } from '../stream-services.ts';
import { createHistoricalJobFactory, type HistoricalJobLimits } from './create-historical-job.ts';
import { createPastMatcher } from './match-past-blocks.ts';
import { createOffersTraces } from './offers-traces.ts';
import { chainAmong, type PastChain, readFollowedHeight, requireCanonical } from './past-chain.ts';
import { recordPastMatches } from './record-past-matches.ts';

export interface PastBlockServicesOptions extends HistoricalJobLimits {
  readonly database: Database;
  readonly chains: readonly (PastChain & { readonly enrich: EnrichMatch })[];
  readonly logger: Logger;
  readonly replaysPerKey?: number;
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

function createPreviewBlock({ database, chains, logger }: PastBlockServicesOptions): PreviewBlock {
  return async ({ chain, blockNumber, config, addresses, streamId = '' }) => {
    const past = chainAmong(chains, chain);
    const stream = { ...config, id: streamId };
    const matcher = createPastMatcher({ ...past, logger }, { stream, addresses });
    const read = await matcher.read(blockNumber);
    if (read === null) return { found: false };
    const [matched] = await matcher.match(database, [read]);
    if (matched === undefined) return { found: true, body: null };
    const { match } = matched;
    const { number, hash, timestamp } = read.header;
    const block = { number, hash, timestamp };
    const request = { match, stream, block, waitedMs: WAITED_LONG_MS };
    const enriched = await past.enrich(request, new AbortController().signal);
    const { confirmed } = await readFollowedHeight(database, past, 'look');
    const body = renderBody({ stream, match, chain, block, enriched });
    return { found: true, body: JSON.parse(finishBody(body, { confirmed: number <= confirmed, retries: 0 })) };
  };
}

function createSendBlock(options: PastBlockServicesOptions): SendBlock {
  const { database, chains, logger, replaysPerKey = REPLAYS_PER_KEY } = options;
  return async ({ chain, blockNumber, stream, by }) => {
    const past = chainAmong(chains, chain);
    const matcher = createPastMatcher({ ...past, logger }, { stream, addresses: null });
    const block = await matcher.read(blockNumber);
    if (block === null) return false;
    return database.transaction(async (transaction) => {
      await requireRoomForReplay(transaction, by.id, replaysPerKey);
      const { followed, confirmed } = await readFollowedHeight(transaction, past, 'hold');
      if (blockNumber > followed) return false;
      await holdStreamsVersion(transaction);
      await requireCanonical(transaction, chain, [block]);
      const matches = await matcher.match(transaction, [block]);
      const kind = blockNumber <= confirmed ? 'confirmed' : 'unconfirmed';
      await recordPastMatches(transaction, chain, kind, matches, by.id);
      const details = { webhooks: matches.length, chain: chain.id, block: blockNumber };
      if (matches.length > 0) await auditStream(transaction, by, 'stream.replay', stream.id, details);
      return true;
    });
  };
}
