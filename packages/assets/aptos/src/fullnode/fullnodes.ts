import { type Clock, type Logger, redactUrl } from '@chainstead/core';
import { jsonObject } from '../rows/insert-rows.ts';
import type { AptosNetwork } from '../transaction.ts';
import { type Caller, createCaller } from './call-fullnodes.ts';
import { FullnodeFault, FullnodesExhaustedError, type GivenRoot } from './errors.ts';
import {
  createFullnodeState,
  createHttpFullnode,
  type FullnodeMetrics,
  type FullnodeState,
  type FullnodeStatus,
  statusOf,
} from './fullnode-state.ts';
import {
  chainIdOf,
  chainKeyOf,
  type LedgerInfo,
  parseJson,
  parseLedgerInfo,
  wholeNumber,
} from './ledger-info.ts';
import { type Markers, readPage, type TransactionsPage } from './read-page.ts';

export type LedgerReach = Pick<LedgerInfo, 'head' | 'oldest'>;

export interface BlockOfVersion {
  readonly height: number;
  readonly first: number;
  readonly last: number;
}

export interface FullnodePage extends TransactionsPage {
  readonly fullnode: string;
}

export interface Fullnodes {
  readonly network: AptosNetwork;
  /** Key of the network's chain. */
  readonly chain: string;
  /** @throws FullnodesExhaustedError if none is usable */
  ledger(signal: AbortSignal): Promise<LedgerReach>;
  /** At least one, at most `limit`. @throws FullnodesExhaustedError, VersionsPrunedError */
  page(first: number, limit: number, markers: Markers, signal: AbortSignal): Promise<FullnodePage>;
  block(version: number, signal: AbortSignal): Promise<BlockOfVersion>;
  /** Not from `besides`; null: no other has it now. */
  rootElsewhere(version: number, besides: string, signal: AbortSignal): Promise<GivenRoot | null>;
  /** Null: it does not have it now. */
  rootOf(name: string, version: number, signal: AbortSignal): Promise<string | null>;
  status(): FullnodeStatus[];
  close(): Promise<void>;
}

export interface FullnodesOptions {
  readonly network: AptosNetwork;
  readonly urls: readonly string[];
  readonly apiKey?: string | null;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: FullnodeMetrics;
  readonly limits?: Partial<FullnodeLimits>;
}

export type FullnodeLimits = Readonly<typeof DEFAULT_LIMITS>;

const DEFAULT_LIMITS = {
  requestsInFlight: 12,
  bytesInFlight: 96 * 1024 * 1024,
  answerBytesMax: 64 * 1024 * 1024,
  timeoutMs: 30_000,
  attemptsMax: 10,
};
const REFUSED_RECHECK_MS = 60_000;
const LEDGER_ROUNDS_MAX = 3;

export function createFullnodes(options: FullnodesOptions): Fullnodes {
  const { network, clock, logger } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const chain = chainKeyOf(network);
  const { answerBytesMax, timeoutMs, requestsInFlight: connections } = limits;
  const http = { apiKey: options.apiKey ?? null, connections, answerBytesMax, timeoutMs };
  const states = nameFullnodes(options.urls).map(({ name, url }) =>
    createFullnodeState(name, createHttpFullnode({ ...http, url })),
  );
  const chainId = chainIdOf(network);
  const caller = createCaller({ chain, chainId, states, limits, clock, logger, metrics: options.metrics });

  async function page(
    first: number,
    limit: number,
    markers: Markers,
    signal: AbortSignal,
  ): Promise<FullnodePage> {
    for (let count = limit; ; count = Math.ceil(count / 2)) {
      try {
        return await caller.call({
          path: `/transactions?start=${first}&limit=${count}`,
          version: first,
          signal,
          read: (body, { name }) => ({ ...readPage(body, first, count, markers), fullnode: name }),
        });
      } catch (error) {
        if (!(error instanceof FullnodeFault) || error.kind !== 'too-large' || count === 1) throw error;
      }
    }
  }

  return {
    network,
    chain,
    page,
    ledger: (signal) => fetchLedgers(states, caller, { chain, clock, signal }),
    block: (version, signal) =>
      caller.call({
        path: `/blocks/by_version/${version}`,
        version,
        signal,
        read: (body) => parseBlock(body, version),
      }),
    async rootElsewhere(version, besides, signal) {
      for (const state of states) {
        const root = state.name === besides ? null : await fetchRoot(state, caller, version, signal);
        if (root !== null) return { fullnode: state.name, root };
      }
      return null;
    },
    async rootOf(name, version, signal) {
      const state = states.find((candidate) => candidate.name === name);
      return state === undefined ? null : fetchRoot(state, caller, version, signal);
    },
    status: () => states.map((state) => statusOf(state, clock.now())),
    close: async () => {
      await Promise.all(states.map((state) => state.http.close()));
    },
  };
}

async function fetchLedgers(
  states: readonly FullnodeState[],
  caller: Caller,
  { chain, clock, signal }: { chain: string; clock: Clock; signal: AbortSignal },
): Promise<LedgerReach> {
  for (let rounds = 0; rounds < LEDGER_ROUNDS_MAX; ) {
    const requested = states.filter(
      (state) =>
        clock.now() >= state.pausedUntil &&
        (state.refused === null || clock.now() - state.requestedWhoAt >= REFUSED_RECHECK_MS),
    );
    const ledgers = await Promise.all(requested.map((state) => fetchLedger(state, caller, clock.now(), signal)));
    const usable = ledgers.filter((info) => info !== null);
    if (usable.length > 0)
      return {
        head: Math.max(...usable.map(({ head }) => head)),
        oldest: Math.min(...usable.map(({ oldest }) => oldest)),
      };
    if (requested.length > 0) rounds++;
    if (!states.some(({ refused }) => refused === null)) break;
    await caller.waitForOne(signal);
  }
  const complaints = states.map(({ name, lastError }) => ({
    fullnode: name,
    complaint: lastError ?? 'no answer',
  }));
  throw new FullnodesExhaustedError({ chain, call: 'the ledger info', complaints });
}

async function fetchLedger(
  state: FullnodeState,
  caller: Caller,
  now: number,
  signal: AbortSignal,
): Promise<LedgerInfo | null> {
  state.requestedWhoAt = now;
  state.refused = null;
  const read = (body: Buffer): LedgerInfo => parseLedgerInfo(parseJson(body));
  const info = await caller.ask(state, { path: '', version: null, signal, read });
  if (info instanceof FullnodeFault || caller.checkChain(state, info.chainId) !== null) return null;
  state.head = info.head;
  state.headAt = now;
  state.oldest = info.oldest;
  return info;
}

/** Null: not served now, or failed. */
async function fetchRoot(
  state: FullnodeState,
  caller: Caller,
  version: number,
  signal: AbortSignal,
): Promise<string | null> {
  if (!caller.isUsable(state, version)) return null;
  const path = `/transactions?start=${version}&limit=1`;
  const read = (body: Buffer): string => readPage(body, version, 1, null).root;
  const root = await caller.ask(state, { path, version, signal, read });
  return root instanceof FullnodeFault ? null : root;
}

function parseBlock(body: Buffer, version: number): BlockOfVersion {
  const members = jsonObject(parseJson(body));
  const height = wholeNumber(members?.block_height);
  const first = wholeNumber(members?.first_version);
  const last = wholeNumber(members?.last_version);
  if (height === undefined || first === undefined || last === undefined)
    throw new FullnodeFault('malformed', 'the block lacks block_height, first_version or last_version');
  if (version < first || version > last)
    throw new FullnodeFault(
      'wrong-versions',
      `block ${height} of ${first} to ${last} does not hold version ${version}`,
    );
  return { height, first, last };
}

export function nameFullnodes(urls: readonly string[]): { name: string; url: string }[] {
  const seen = new Map<string, number>();
  return urls.map((url) => {
    const host = redactUrl(url);
    const count = (seen.get(host) ?? 0) + 1;
    seen.set(host, count);
    return { name: count === 1 ? host : `${host}#${count}`, url };
  });
}
