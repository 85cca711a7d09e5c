import type { Chain } from '@chainstead/chains';
import {
  type Address,
  ChainsteadError,
  type Clock,
  createAnswerBudget,
  createTurns,
  defineError,
  errorText,
  type Logger,
  parseAddress,
} from '@chainstead/core';
import { addressBytes, type Database, hexText, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { createTokenMetadataReader, saveTokenMetadata, type TokenMetadataReader } from '@chainstead/tokens';
import DataLoader from 'dataloader';
import type { Match } from '../matching/match.ts';
import type { BodyBlock, EnrichedMatch } from '../payload/render-body.ts';
import {
  decodeTokenEvents,
  type TokenEvent,
  type TokenNote,
  tokenContracts,
  webhookContents,
} from '../payload/webhook-contents.ts';
import type { NativeBalanceSelector, Stream } from '../stream.ts';
import type { WebhookContents } from '../webhook.ts';
import {
  answerOf,
  type BlockState,
  CALLS_TOGETHER,
  type InTurn,
  itemsOf,
  openBlockState,
  readTriggers,
  selectedAddress,
  triggerCalls,
  type Unanswered,
} from './read-triggers.ts';

interface EnrichMatchOptions {
  readonly database: Database;
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Calls, and also balances, of one webhook. @default 1,000 */
  readonly callsMax?: number;
  readonly timeoutMs?: number;
  readonly restMs?: number;
}

export interface EnrichRequest {
  readonly match: Match;
  readonly stream: Pick<Stream, 'triggers' | 'getNativeBalances'>;
  readonly block: BodyBlock;
  /** The stream's key: keys take turns, and the calls of one that get no response hold up no other. @default '' */
  readonly key?: string;
  /** Milliseconds waited so far. After a limit the match is sent without enrichment. */
  readonly waitedMs: number;
  /** Before calls of nodes, at most. May reject. @default not counted */
  readonly willCall?: (calls: number) => Promise<void>;
}

/** @throws NodesUnansweredError until the wait exceeds its limit */
export type EnrichMatch = (request: EnrichRequest, signal: AbortSignal) => Promise<EnrichedMatch>;

class NodesUnansweredError extends defineError('NODES_UNANSWERED', (chain: string, cause: unknown) => ({
  message: `No upstream of ${chain} could provide the data of a webhook: ${errorText(cause)}`,
  facts: { chain },
  retryable: true,
  cause,
})) {}

const ANSWERS_BYTES_MAX = 48 * 1_048_576;
const ANSWERS_BYTES_FIRST = 16 * 1_048_576;
/** Parts of 25 calls. */
const TURNS = { atOnce: 6, atOncePerKey: 4, atOnceAmongKeys: 3 } as const;
const TOKENS_WAIT_MS_MAX = 60_000;
/** A node that pruned the block's state by then never returns it. */
const STATE_WAIT_MS_MAX = 3_600_000;

export function createEnrichMatch(options: EnrichMatchOptions): EnrichMatch {
  const { chain, pool, clock, logger, callsMax = 1_000, timeoutMs = 10_000, restMs = 5_000 } = options;
  const budget = createAnswerBudget({ bytesMax: ANSWERS_BYTES_MAX });
  budget.observe(ANSWERS_BYTES_FIRST);
  const notes = createTokenNotes(options);
  const reader = createTokenMetadataReader({ chain, pool });
  // Invariant: FAIR-KEYS
  const turns = createTurns({ ...TURNS, now: () => clock.now() });
  const rests = new Map<string, { readonly until: number; readonly cause: unknown }>();

  /** Otherwise every webhook of the key would wait for the same timeouts. */
  function requireNodes({ key = '' }: EnrichRequest): void {
    const rest = rests.get(key);
    if (rest === undefined) return;
    if (rest.until > clock.now()) throw new NodesUnansweredError(chain.key, rest.cause);
    rests.delete(key);
  }

  async function ask<T>(
    { key = '' }: EnrichRequest,
    signal: AbortSignal,
    question: (bounded: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await question(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof ChainsteadError)) throw cause;
      rests.set(key, { until: clock.now() + restMs, cause });
      throw new NodesUnansweredError(chain.key, cause);
    }
  }

  async function readTokens(
    events: readonly TokenEvent[],
    request: EnrichRequest,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<Address, TokenNote>> {
    const contracts = tokenContracts(events);
    if (contracts.length === 0) return new Map();
    try {
      return await notes.read(contracts, async (unrequested) => {
        await request.willCall?.(unrequested.length);
        requireNodes(request);
        return ask(request, signal, (bounded) => reader.read(unrequested, bounded));
      });
    } catch (error) {
      if (!(error instanceof NodesUnansweredError) || request.waitedMs < TOKENS_WAIT_MS_MAX) throw error;
      logger.warn({ chain: chain.key, err: error }, 'Sending a webhook without the names of its tokens');
      return notes.known(contracts);
    }
  }

  async function readState(
    request: EnrichRequest,
    contents: WebhookContents,
    signal: AbortSignal,
  ): Promise<Pick<EnrichedMatch, 'triggers' | 'nativeBalances'>> {
    const { stream, block, waitedMs, willCall, key = '' } = request;
    const triggers = stream.triggers ?? [];
    const addresses = balanceAddresses(stream.getNativeBalances, contents, callsMax);
    if (triggers.length === 0 && addresses.length === 0) return { triggers: {}, nativeBalances: [] };
    const unanswered: Unanswered = waitedMs < STATE_WAIT_MS_MAX ? 'throw' : 'show';
    await willCall?.(triggerCalls(triggers, contents, callsMax) + addresses.length);
    if (unanswered === 'throw') requireNodes(request);
    return ask(request, signal, async (bounded) => {
      const state = openBlockState(pool, block, bounded);
      const inTurn: InTurn = (work) => turns.run(key, work, bounded);
      const [results, nativeBalances] = await Promise.all([
        readTriggers(triggers, contents, { state, unanswered, callsMax, budget, inTurn }),
        readBalances(addresses, state, unanswered, inTurn),
      ]);
      return { triggers: results, nativeBalances };
    });
  }

  return async (request, signal) => {
    const { match } = request;
    const events = decodeTokenEvents(match.logs, chain);
    const tokens = await readTokens(events, request, signal);
    const contents = webhookContents({ match, events, chain, tokens });
    return { contents, ...(await readState(request, contents, signal)) };
  };
}

function balanceAddresses(selectors: readonly NativeBalanceSelector[], contents: WebhookContents, limit: number) {
  const addresses = selectors.flatMap(({ type, selectors: names }) =>
    names.flatMap((name) => itemsOf(type, contents).map((item) => selectedAddress(name, item))),
  );
  return [...new Set(addresses.filter((address) => address !== null))].slice(0, limit);
}

/** Omits refused addresses, and unanswered ones if errors are shown. Else throws as `state`. */
async function readBalances(
  addresses: readonly Address[],
  state: BlockState,
  unanswered: Unanswered,
  inTurn: InTurn,
): Promise<EnrichedMatch['nativeBalances']> {
  const settled: PromiseSettledResult<bigint>[] = [];
  for (let at = 0; at < addresses.length; at += CALLS_TOGETHER) {
    const together = addresses.slice(at, at + CALLS_TOGETHER);
    settled.push(...(await inTurn(() => Promise.allSettled(together.map((address) => state.balance(address))))));
  }
  return addresses.flatMap((address, index) => {
    const reading = settled[index];
    if (reading?.status === 'fulfilled') return [{ address, wei: reading.value }];
    if (answerOf(reading?.reason) !== null || unanswered === 'show') return [];
    throw reading?.reason;
  });
}

type AskContracts = (addresses: readonly Address[]) => ReturnType<TokenMetadataReader['read']>;

interface StoredNote extends TokenNote {
  readonly address: string;
  /** Whether the contract was read before or needs no read. */
  readonly isRequested: boolean;
}

const ADDRESSES_TOGETHER = 1_000;

function createTokenNotes({ database, chain }: { readonly database: Database; readonly chain: Chain }) {
  const rows = new DataLoader<Address, StoredNote | undefined>((addresses) => readRows(addresses), {
    cache: false,
    maxBatchSize: ADDRESSES_TOGETHER,
  });

  async function readRows(addresses: readonly Address[]): Promise<readonly (StoredNote | undefined)[]> {
    const stored = await database.query<StoredNote>(
      sql`SELECT ${hexText('address')} AS address, name, symbol, decimals, standard, logo,
         possible_spam, verified, facts_status <> 'pending' OR facts_attempts > (facts_lease_until IS NOT NULL)::int AS "isRequested"
       FROM tokens WHERE chain_id = ${chain.id} AND address = ANY (${[...new Set(addresses)].map(addressBytes)}::bytea[])`,
    );
    const byAddress = new Map<string, StoredNote>(stored.map((row) => [row.address, row]));
    return addresses.map((address) => byAddress.get(address));
  }

  async function select(addresses: readonly Address[]): Promise<StoredNote[]> {
    const read = await Promise.all(addresses.map((address) => rows.load(address)));
    return read.filter((row) => row !== undefined);
  }

  return {
    async known(addresses: readonly Address[]): Promise<Map<Address, TokenNote>> {
      return notesOf(await select(addresses));
    },
    /** Like `known`, but reads and stores unknown contracts first. Throws as `ask`. */
    async read(addresses: readonly Address[], ask: AskContracts): Promise<Map<Address, TokenNote>> {
      const stored = await select(addresses);
      const requested = new Set(stored.filter(({ isRequested }) => isRequested).map(({ address }) => address));
      const unrequested = addresses.filter((address) => !requested.has(address));
      if (unrequested.length === 0) return notesOf(stored);
      const facts = await ask(unrequested);
      await database.query(
        sql`INSERT INTO tokens (address, chain_id) SELECT address, ${chain.id} FROM unnest(${unrequested.toSorted().map(addressBytes)}::bytea[]) AS seen(address) ON CONFLICT DO NOTHING`,
      );
      await saveTokenMetadata(database, chain.id, facts);
      return notesOf(await select(addresses));
    },
  };
}

function notesOf(rows: readonly StoredNote[]): Map<Address, TokenNote> {
  return new Map(rows.map(({ address, isRequested: _, ...note }) => [parseAddress(address), note]));
}
