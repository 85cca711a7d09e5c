import type { Chain } from '@chainstead/chains';
import {
  type Address,
  ChainsteadError,
  type Clock,
  createAnswerBudget,
  errorText,
  type Logger,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createTokenMetadataReader } from '@chainstead/tokens';
import type { Match } from '../matching/match.ts';
import type { BodyBlock, EnrichedMatch } from '../payload/render-body.ts';
import { decodeTokenEvents, type TokenEvent } from '../payload/token-events.ts';
import type { TokenNote } from '../payload/token-note.ts';
import type { WebhookContents } from '../payload/webhook.ts';
import { tokenContracts, webhookContents } from '../payload/webhook-contents.ts';
import type { Stream } from '../stream.ts';
import { openBlockState } from './block-state.ts';
import { balanceAddresses, readBalances } from './native-balances.ts';
import { readTriggers, type Unanswered } from './read-triggers.ts';
import { createTokenNotes } from './token-notes.ts';

export interface EnrichMatchOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls of triggers for one webhook, and balances that it shows. Default 1,000. */
  readonly callsMax?: number;
  /** Node calls of one match at most. Default 10,000 ms. */
  readonly timeoutMs?: number;
  /** After nodes did not answer, nothing is asked of them for so long. Default 5,000 ms. */
  readonly restMs?: number;
}

export interface EnrichRequest {
  readonly match: Match;
  readonly stream: Pick<Stream, 'triggers' | 'getNativeBalances'>;
  readonly block: BodyBlock;
  /** Milliseconds that the match has waited for its enrichment. After a while it goes without. */
  readonly waitedMs: number;
}

/**
 * Decodes what matched, once for all that is made of it, and reads what a webhook shows that is neither in the block nor in the stream:
 * token metadata, results of triggers, native balances, the latter two as of the block. @throws NodesUnansweredError until that has lasted too long
 */
export type EnrichMatch = (request: EnrichRequest, signal: AbortSignal) => Promise<EnrichedMatch>;

/** No node of the chain told what a webhook is to show, now or a moment ago. */
export class NodesUnansweredError extends ChainsteadError {
  constructor(chain: string, cause: unknown) {
    super({
      code: 'NODES_UNANSWERED',
      message: `No node of ${chain} could provide the contents of a webhook: ${errorText(cause)}`,
      facts: { chain },
      retryable: true,
      cause,
    });
  }
}

const CALLS_MAX = 1_000;
const TIMEOUT_MS = 10_000;
const REST_MS = 5_000;
/** Answers of calls in flight, of all webhooks that are made. */
const ANSWERS_BYTES_MAX = 48 * 1_048_576;
/** Calls that go out together are taken to answer so much until they show how much it is. */
const ANSWERS_BYTES_FIRST = 16 * 1_048_576;
/** A webhook is worth more than the names of its tokens, so it waits for them shortly. */
const TOKENS_WAIT_MS_MAX = 60_000;
/** Triggers and balances are what its owner asked for. A node that forgot the block's state by then will never answer. */
const STATE_WAIT_MS_MAX = 3_600_000;

export function createEnrichMatch(options: EnrichMatchOptions): EnrichMatch {
  const { chain, pool, clock, logger, timeoutMs = TIMEOUT_MS, restMs = REST_MS } = options;
  const callsMax = options.callsMax ?? CALLS_MAX;
  const budget = createAnswerBudget({ bytesMax: ANSWERS_BYTES_MAX });
  budget.observe(ANSWERS_BYTES_FIRST);
  const notes = createTokenNotes(options);
  const reader = createTokenMetadataReader({ chain, pool });
  let rest: { readonly until: number; readonly cause: unknown } | null = null;

  /** Every webhook would wait for the same time-outs. */
  function requireNodes(): void {
    if (rest !== null && rest.until > clock.now()) throw new NodesUnansweredError(chain.key, rest.cause);
  }

  async function ask<T>(signal: AbortSignal, question: (bounded: AbortSignal) => Promise<T>): Promise<T> {
    try {
      return await question(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof ChainsteadError)) throw cause;
      rest = { until: clock.now() + restMs, cause };
      throw new NodesUnansweredError(chain.key, cause);
    }
  }

  async function readTokens(
    events: readonly TokenEvent[],
    waitedMs: number,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Address, TokenNote>> {
    const contracts = tokenContracts(events);
    if (contracts.length === 0) return new Map();
    try {
      // Most are known: they need no clock, and no nodes.
      return await notes.read(contracts, (unasked) => {
        requireNodes();
        return ask(signal, (bounded) => reader.read(unasked, bounded));
      });
    } catch (error) {
      if (!(error instanceof NodesUnansweredError) || waitedMs < TOKENS_WAIT_MS_MAX) throw error;
      logger.warn({ chain: chain.key, err: error }, 'Sending a webhook without the names of its tokens');
      return notes.known(contracts);
    }
  }

  async function readState(
    { stream, block, waitedMs }: EnrichRequest,
    contents: WebhookContents,
    signal: AbortSignal,
  ): Promise<Pick<EnrichedMatch, 'triggers' | 'nativeBalances'>> {
    const triggers = stream.triggers ?? [];
    const addresses = balanceAddresses(stream.getNativeBalances, contents).slice(0, callsMax);
    if (triggers.length === 0 && addresses.length === 0) return { triggers: {}, nativeBalances: [] };
    const unanswered: Unanswered = waitedMs < STATE_WAIT_MS_MAX ? 'throw' : 'show';
    if (unanswered === 'throw') requireNodes();
    return ask(signal, async (bounded) => {
      const state = openBlockState({ pool, block, signal: bounded });
      const [results, nativeBalances] = await Promise.all([
        readTriggers(triggers, contents, { state, unanswered, callsMax, budget }),
        readBalances(addresses, state, unanswered),
      ]);
      return { triggers: results, nativeBalances };
    });
  }

  return async (request, signal) => {
    const { match, waitedMs } = request;
    const events = decodeTokenEvents(match.logs, chain);
    const tokens = await readTokens(events, waitedMs, signal);
    const contents = webhookContents({ match, events, chain, tokens });
    return { contents, ...(await readState(request, contents, signal)) };
  };
}
