import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Match } from '../../matching/match.ts';
import type { EnrichedMatch } from '../render-body.ts';
import { decodeTokenEvents, type TokenNote, webhookContents } from '../webhook-contents.ts';

/** Webhook data that is neither in the block nor in the stream. */
export interface Enrichment extends Omit<EnrichedMatch, 'contents'> {
  readonly tokens: ReadonlyMap<Address, TokenNote>;
}

/** No token metadata, triggers or balances. */
export const NO_ENRICHMENT: Enrichment = { tokens: new Map(), triggers: {}, nativeBalances: [] };

/** Returns a match in webhook form, with the test's values in place of data from nodes and the database. */
export function enrichedMatch(match: Match, chain: Chain, enrichment: Partial<Enrichment> = {}): EnrichedMatch {
  const { tokens, ...others } = { ...NO_ENRICHMENT, ...enrichment };
  const events = decodeTokenEvents(match.logs, chain);
  return { contents: webhookContents({ match, events, chain, tokens }), ...others };
}
