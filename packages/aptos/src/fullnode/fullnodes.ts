/**
 * The fullnodes of a network as one: each call goes to one that has what is asked for, and to the next when that one
 * fails. Answers are checked before they count: the right chain, complete JSON, the versions asked for in order.
 */
import { type Clock, type Logger, redactUrl } from '@chainstead/core';
import type { AptosNetwork } from '../transaction.ts';
import { type Caller, createCaller } from './call-fullnodes.ts';
import { FullnodeFault, FullnodesExhaustedError } from './errors.ts';
import type { FullnodeMetrics } from './fullnode-metrics.ts';
import { createFullnodeState, type FullnodeState, type FullnodeStatus, statusOf } from './fullnode-state.ts';
import { createHttpFullnode } from './http-fullnode.ts';
import { type LedgerInfo, parseLedgerInfo, wholeNumber } from './ledger-info.ts';
import { chainIdOf, chainKeyOf } from './network.ts';
import { type Markers, readPage, type TransactionsPage } from './read-page.ts';

/** How far at least one fullnode reaches. */
export type LedgerReach = Pick<LedgerInfo, 'head' | 'oldest'>;

/** A block by one of its versions. */
export interface BlockOfVersion {
  readonly height: number;
  readonly first: number;
  readonly last: number;
}

export interface FullnodePage extends TransactionsPage {
  /** Who gave it. */
  readonly fullnode: string;
}

export interface Fullnodes {
  readonly network: AptosNetwork;
  /** Asks each one how far it reaches. @throws FullnodesExhaustedError when none can be used */
  ledger(signal: AbortSignal): Promise<LedgerReach>;
  /**
   * Transactions from `first` on, at least one and at most `limit`.
   * @throws FullnodesExhaustedError
   * @throws VersionsPrunedError
   */
  page(first: number, limit: number, markers: Markers, signal: AbortSignal): Promise<FullnodePage>;
  /** @throws FullnodesExhaustedError, VersionsPrunedError */
  block(version: number, signal: AbortSignal): Promise<BlockOfVersion>;
  /** The accumulator's root after `version` from another fullnode than `besides`; null where no other can say it now. */
  rootElsewhere(version: number, besides: string, signal: AbortSignal): Promise<GivenRoot | null>;
  /** The accumulator's root after `version` from the fullnode of that name; null where it can't say it now. */
  rootOf(name: string, version: number, signal: AbortSignal): Promise<string | null>;
  status(): FullnodeStatus[];
  close(): Promise<void>;
}

export interface GivenRoot {
  readonly fullnode: string;
  readonly root: string;
}

export interface FullnodesOptions {
  readonly network: AptosNetwork;
  /** At least one, with or without `/v1` at the end. */
  readonly urls: readonly string[];
  readonly apiKey?: string | null;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly metrics: FullnodeMetrics;
  /** To each fullnode, for tests. */
  readonly limits?: Partial<FullnodeLimits>;
}

export interface FullnodeLimits {
  readonly requestsInFlight: number;
  /** Of all answers in flight together. */
  readonly bytesInFlight: number;
  readonly answerBytesMax: number;
  readonly timeoutMs: number;
  /** Calls that may fail until the whole is given up. */
  readonly attemptsMax: number;
}

const DEFAULT_LIMITS: FullnodeLimits = {
  requestsInFlight: 12,
  bytesInFlight: 96 * 1024 * 1024,
  answerBytesMax: 64 * 1024 * 1024,
  timeoutMs: 30_000,
  attemptsMax: 10,
};
/** A fullnode that serves another chain is asked again who it is so often. */
const REFUSED_RECHECK_MS = 60_000;
/** Turns in which nobody answers until that is the answer. */
const LEDGER_ROUNDS_MAX = 3;

/** Opens no connection yet. */
export function createFullnodes(options: FullnodesOptions): Fullnodes {
  const { network, clock, logger } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const chain = chainKeyOf(network);
  const states = nameFullnodes(options.urls).map(({ name, url }) =>
    createFullnodeState(
      name,
      createHttpFullnode({
        url,
        apiKey: options.apiKey ?? null,
        connections: limits.requestsInFlight,
        answerBytesMax: limits.answerBytesMax,
        timeoutMs: limits.timeoutMs,
      }),
    ),
  );
  const caller = createCaller({
    chain,
    chainId: chainIdOf(network),
    states,
    limits,
    clock,
    logger,
    metrics: options.metrics,
  });

  async function page(first: number, limit: number, markers: Markers, signal: AbortSignal): Promise<FullnodePage> {
    const path = (count: number): string => `/transactions?start=${first}&limit=${count}`;
    for (let count = limit; ; count = Math.ceil(count / 2)) {
      try {
        return await caller.call({
          path: path(count),
          version: first,
          signal,
          read: (body, { name }) => ({
            ...readPage(body, first, count, markers),
            fullnode: name,
          }),
        });
      } catch (error) {
        if (!(error instanceof FullnodeFault) || error.kind !== 'too-large' || count === 1) throw error;
      }
    }
  }

  return {
    network,
    page,
    ledger: (signal) => askLedgers(states, caller, { chain, clock, signal }),
    block: (version, signal) =>
      caller.call({
        path: `/blocks/by_version/${version}`,
        version,
        signal,
        read: (body) => parseBlock(body, version),
      }),
    async rootElsewhere(version, besides, signal) {
      for (const state of states) {
        const root = state.name === besides ? null : await askRoot(state, caller, version, signal);
        if (root !== null) return { fullnode: state.name, root };
      }
      return null;
    },
    async rootOf(name, version, signal) {
      const state = states.find((each) => each.name === name);
      return state === undefined ? null : askRoot(state, caller, version, signal);
    },
    status: () => states.map((state) => statusOf(state, clock.now())),
    close: async () => {
      await Promise.all(states.map((state) => state.http.close()));
    },
  };
}

/** Asks all of them; those that are paused are waited for only when nobody else answers. */
async function askLedgers(
  states: readonly FullnodeState[],
  caller: Caller,
  { chain, clock, signal }: { chain: string; clock: Clock; signal: AbortSignal },
): Promise<LedgerReach> {
  for (let rounds = 0; rounds < LEDGER_ROUNDS_MAX; ) {
    const asked = states.filter(
      (state) =>
        clock.now() >= state.pausedUntil &&
        (state.refused === null || clock.now() - state.askedWhoAt >= REFUSED_RECHECK_MS),
    );
    const heard = await Promise.all(asked.map((state) => askLedger(state, caller, clock.now(), signal)));
    const usable = heard.filter((info) => info !== null);
    if (usable.length > 0)
      return {
        head: Math.max(...usable.map(({ head }) => head)),
        oldest: Math.min(...usable.map(({ oldest }) => oldest)),
      };
    if (asked.length > 0) rounds++;
    if (!states.some(({ refused }) => refused === null)) break;
    await caller.waitForOne(signal);
  }
  const complaints = states.map(({ name, lastError }) => ({ fullnode: name, complaint: lastError ?? 'no answer' }));
  throw new FullnodesExhaustedError({ chain, call: 'the ledger info', complaints });
}

async function askLedger(
  state: FullnodeState,
  caller: Caller,
  now: number,
  signal: AbortSignal,
): Promise<LedgerInfo | null> {
  state.askedWhoAt = now;
  state.refused = null;
  const read = (body: Buffer): LedgerInfo => parseLedgerInfo(parseJson(body));
  const info = await caller.ask(state, { path: '', version: null, signal, read });
  if (info instanceof FullnodeFault || caller.checkChain(state, info.chainId) !== null) return null;
  state.head = info.head;
  state.oldest = info.oldest;
  return info;
}

/** Null where the fullnode can't be asked for the version now, or fails. */
async function askRoot(
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
  const parsed = parseJson(body);
  const members = typeof parsed === 'object' && parsed !== null ? parsed : {};
  const height = 'block_height' in members ? wholeNumber(members.block_height) : undefined;
  const first = 'first_version' in members ? wholeNumber(members.first_version) : undefined;
  const last = 'last_version' in members ? wholeNumber(members.last_version) : undefined;
  if (height === undefined || first === undefined || last === undefined)
    throw new FullnodeFault('malformed', 'the block lacks block_height, first_version or last_version');
  if (version < first || version > last)
    throw new FullnodeFault(
      'wrong-versions',
      `block ${height} of ${first} to ${last} does not hold version ${version}`,
    );
  return { height, first, last };
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new FullnodeFault('truncated', 'the answer is no complete JSON', { cause: error });
  }
}

/** Hosts, numbered where several URLs share one. */
export function nameFullnodes(urls: readonly string[]): { name: string; url: string }[] {
  const seen = new Map<string, number>();
  return urls.map((url) => {
    const host = redactUrl(url);
    const count = (seen.get(host) ?? 0) + 1;
    seen.set(host, count);
    return { name: count === 1 ? host : `${host}#${count}`, url };
  });
}
