import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, isAddress, type Logger, parseAddress, type Registry } from '@chainstead/core';
import type { Database, WorkJournal } from '@chainstead/db';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  createKnownContracts,
  type Dataset,
  datasetsOf,
  type HistoryOutcome,
  isHistoryMissing,
  type KeepSettings,
  listDueHistories,
  type RequestOutcome,
  readHistory,
  requestHistory,
  type Subject,
} from '@chainstead/sync';
import { z } from 'zod';
import { createWalletHistoryMetrics, type WalletHistoryMetrics } from './wallet-history-metrics.ts';

export interface WalletHistoryOptions {
  readonly jobs: Jobs;
  /** The chains that workers serve; there is no work for others. */
  readonly chains: readonly Chain[];
  /** Those that are kept. */
  readonly datasets: readonly Dataset[];
  /** Node calls for one wallet or contract at most; 0: none is read. */
  readonly maxCalls: number;
  /** Wallets and contracts that one key may have unfinished at once. */
  readonly perKey: number;
  /** After this a worker that shows no sign of life is taken for dead, and another goes on with its subjects. Default 10,000 ms. */
  readonly lockMs?: number;
}

/** `off`: wallet history is turned off; `unserved`: nobody reads it for the chain; the others as in RequestOutcome. */
export type WalletHistoryAnswer = RequestOutcome | 'off' | 'unserved';

/** What a request is made with. */
export interface RequestContext {
  readonly database: Database;
  readonly logger: Logger;
}

/**
 * Wallet history: blocks below what is indexed of a chain, read for a single wallet (what moved to and from it, or what it sent), or a single
 * contract, because somebody asked about it. Whoever asks leaves a row and a job; the worker role reads. Jobs are one for each subject, whoever asks however often,
 * and their rows outlive them.
 */
export interface WalletHistory {
  /** For a caller that found something missing of the wallet. Touches the database and the queue, never a node. */
  requestWallet(
    context: RequestContext,
    chain: Chain,
    wallet: Address,
    requestedBy: string | null,
  ): Promise<WalletHistoryAnswer>;
  /**
   * As requestWallet, but looks by itself whether something is missing: `known` where nothing is. Looks once in a while only,
   * so that it may be called whenever the contract is asked about.
   */
  requestContract(
    context: RequestContext,
    chain: Chain,
    contract: Address,
    requestedBy: string | null,
  ): Promise<WalletHistoryAnswer>;
  /** As requestWallet, for the transactions that a wallet sent: the caller found that blocks are missing which nobody searched for them. */
  requestSender(
    context: RequestContext,
    chain: Chain,
    wallet: Address,
    requestedBy: string | null,
  ): Promise<WalletHistoryAnswer>;
  /** As requestSender, for the coins that a wallet received: the caller found that its balances were not searched. */
  requestReceiver(
    context: RequestContext,
    chain: Chain,
    wallet: Address,
    requestedBy: string | null,
  ): Promise<WalletHistoryAnswer>;
  /** As requestWallet, for every log of a contract. `unserved` where the chain's logs are all kept, or no dataset takes any. */
  requestEmitter(
    context: RequestContext,
    chain: Chain,
    contract: Address,
    requestedBy: string | null,
  ): Promise<WalletHistoryAnswer>;
  /** Begins to read what was asked for. Queues are closed by `jobs.close()`. */
  work(options: WalletHistoryWorkOptions): Promise<void>;
}

/** What is read with of the transactions that a sender sent, or of the coins that a receiver received. */
export interface SenderReading {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keep?: KeepSettings | undefined;
  /** Node calls for one of them at most. */
  readonly maxCalls: number;
  /** After this it gives way to others. Milliseconds. */
  readonly sliceMs: number;
  readonly journal?: Pick<WorkJournal, 'run'>;
}

/** Works on what a sender sent, or a receiver received, until that is complete or gives way. */
export type ReadSender = (reading: SenderReading, subject: Subject, signal: AbortSignal) => Promise<HistoryOutcome>;

export interface WalletHistoryWorkOptions {
  readonly database: Database;
  /** The chains that this process reads, each with what is kept of its blocks (default: all). */
  readonly chains: readonly {
    readonly chain: Chain;
    readonly pool: UpstreamPool;
    readonly keep?: KeepSettings | undefined;
  }[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run'>;
  /** What transactions of senders are read by. Default: nothing, they wait for another process. */
  readonly readSender?: ReadSender;
  /** What coins of receivers are read by. Default as of senders. */
  readonly readReceiver?: ReadSender;
  /** How often what a crash, a failure or finality left is looked for. Default 2,000 ms. */
  readonly sweepEveryMs?: number;
  /** How long one subject is read before another that waits gets its turn. Default 30,000 ms. */
  readonly sliceMs?: number;
}

/** Subjects that a process reads at once, by chain, and a sweep beside them. */
const CONCURRENCY = 3;
/** Jobs that wait in the queue at most; others wait as rows. */
const WAITING_JOBS_MAX = 50;
const SWEEP_EVERY_MS = 2_000;
const SLICE_MS = 30_000;
const LOCK_MS = 10_000;

const payloadSchema = z.discriminatedUnion('job', [
  z.object({ job: z.literal('sweep') }),
  z.object({
    job: z.literal('read'),
    kind: z.enum(['wallet', 'contract', 'sender', 'receiver', 'emitter']),
    address: z.string().refine(isAddress),
  }),
]);
type Payload = z.infer<typeof payloadSchema>;

/**
 * One queue a chain, `histories-<chain>`, apart from all bulk work: wallet history never waits behind a backfill's chunks or
 * token metadata, and those lose node calls to it only where they share an upstream's limits.
 */
export function createWalletHistory(options: WalletHistoryOptions): WalletHistory {
  const { jobs, maxCalls, perKey, lockMs = LOCK_MS } = options;
  const queues = new Map(
    options.chains.map(({ id, key }) => [
      id,
      jobs.queue<Payload>(`histories-${key}`, { schema: payloadSchema, lockMs }),
    ]),
  );

  const looked = createRecentKeys(LOOK_AGAIN_MS);
  const full = createRecentKeys(ASK_AGAIN_MS);

  async function request({ database, logger }: RequestContext, subject: Subject, requestedBy: string | null) {
    const outcome = await requestHistory(database, { subject, requestedBy, perKey, maxCalls });
    const queue = queues.get(subject.chainId);
    if (outcome !== 'requested' || queue === undefined) return outcome;
    // Not waited for: a queue that is away must not hold up requests, and a sweep finds the row.
    addJob(queue, subject).catch((error: unknown) =>
      logger.warn(
        { kind: subject.kind, subject: subject.address, err: error },
        'Wallet history could not be queued, a sweep will',
      ),
    );
    return outcome;
  }

  function whyNot(chain: Chain): 'off' | 'unserved' | null {
    if (maxCalls === 0) return 'off';
    const hasHistories = datasetsOf(chain, options.datasets).some((dataset) => dataset.histories !== undefined);
    return queues.has(chain.id) && hasHistories ? null : 'unserved';
  }

  /** What is told by the state of old blocks, on any chain that is served. */
  function requestState(kind: 'sender' | 'receiver'): WalletHistory['requestSender'] {
    return async (context, chain, wallet, requestedBy) => {
      if (maxCalls === 0) return 'off';
      if (!queues.has(chain.id)) return 'unserved';
      return request(context, { chainId: chain.id, kind, address: wallet }, requestedBy);
    };
  }

  return {
    async requestWallet(context, chain, wallet, requestedBy) {
      return whyNot(chain) ?? request(context, { chainId: chain.id, kind: 'wallet', address: wallet }, requestedBy);
    },
    async requestContract(context, chain, contract, requestedBy) {
      const obstacle = whyNot(chain);
      if (obstacle !== null) return obstacle;
      const subject: Subject = { chainId: chain.id, kind: 'contract', address: contract };
      const key = `${chain.id}.${contract}`;
      const keyOfRequester = `${key}.${requestedBy ?? ''}`;
      if (looked.has(key)) return 'known';
      if (full.has(keyOfRequester)) return 'full';
      const datasets = datasetsOf(chain, options.datasets);
      const isMissing = await isHistoryMissing(context.database, { chain, datasets, subject });
      const answer = isMissing ? await request(context, subject, requestedBy) : 'known';
      if (answer === 'full') full.add(keyOfRequester);
      else looked.add(key);
      return answer;
    },
    requestSender: requestState('sender'),
    requestReceiver: requestState('receiver'),
    async requestEmitter(context, chain, contract, requestedBy) {
      if (maxCalls === 0) return 'off';
      const isRead = options.datasets.some(
        ({ histories }) => (histories?.ofEmitter?.(chain, contract) ?? []).length > 0,
      );
      if (!isRead || !queues.has(chain.id)) return 'unserved';
      return request(context, { chainId: chain.id, kind: 'emitter', address: contract }, requestedBy);
    },
    async work(given) {
      const outcomes = createWalletHistoryMetrics(given.metrics);
      for (const served of given.chains) {
        const queue = queues.get(served.chain.id);
        if (queue !== undefined) await workOn(queue, served, given, { datasets: options.datasets, maxCalls, outcomes });
      }
    },
  };
}

async function workOn(
  queue: JobQueue<Payload>,
  { chain, pool, keep }: WalletHistoryWorkOptions['chains'][number],
  given: WalletHistoryWorkOptions,
  shared: Pick<WalletHistoryOptions, 'datasets' | 'maxCalls'> & { readonly outcomes: WalletHistoryMetrics },
): Promise<void> {
  const { database, clock, logger, journal, sliceMs = SLICE_MS, sweepEveryMs = SWEEP_EVERY_MS } = given;
  const leave: ReadSender = () => Promise.resolve('idle');
  const { readSender = leave, readReceiver = leave } = given;
  const readers = { sender: readSender, receiver: readReceiver } as const;
  const reading = {
    chain,
    pool,
    database,
    datasets: readFor(chain, shared.datasets),
    knownContracts: createKnownContracts(),
    clock,
    logger,
    keep,
    maxCalls: shared.maxCalls,
    sliceMs,
    ...(journal === undefined ? {} : { journal }),
  };
  await queue.work(
    async ({ payload, signal }) => {
      if (payload.job === 'sweep') return sweep(database, chain, queue);
      const subject: Subject = { chainId: chain.id, kind: payload.kind, address: parseAddress(payload.address) };
      const { kind } = subject;
      const read = kind === 'sender' || kind === 'receiver' ? readers[kind] : readHistory;
      const outcome = await read(reading, subject, signal);
      if (outcome !== 'idle') shared.outcomes.inc({ chain: chain.key, kind: subject.kind, outcome });
    },
    { concurrency: CONCURRENCY },
  );
  await queue.schedule('sweep', { job: 'sweep' }, { everyMs: sweepEveryMs });
}

/** Those that are kept of the chain, and those that take any log. */
function readFor(chain: Chain, datasets: readonly Dataset[]): readonly Dataset[] {
  const kept = datasetsOf(chain, datasets);
  return datasets.filter((dataset) => kept.includes(dataset) || dataset.histories?.ofEmitter !== undefined);
}

/** What was added a short while ago. Forgets all of it when there is much: a miss only costs a look. */
function createRecentKeys(recentMs: number) {
  const added = new Map<string, number>();
  return {
    has: (key: string): boolean => performance.now() - (added.get(key) ?? -recentMs) < recentMs,
    add(key: string): void {
      if (added.size >= RECENT_MAX) added.clear();
      added.set(key, performance.now());
    },
  };
}

/** Between two looks at whether something is missing of a contract. Milliseconds. */
const LOOK_AGAIN_MS = 600_000;
/** Between two looks at whether a key that had too much unfinished may ask for a contract now. Milliseconds. */
const ASK_AGAIN_MS = 60_000;
const RECENT_MAX = 10_000;

/** Queues what is due and not queued: a subject at work has its job already, and adding it again does nothing. */
async function sweep(database: Database, chain: Chain, queue: JobQueue<Payload>): Promise<void> {
  const { waiting } = await queue.depth();
  if (waiting >= WAITING_JOBS_MAX) return;
  for (const subject of await listDueHistories(database, chain.id, WAITING_JOBS_MAX)) await addJob(queue, subject);
}

function addJob(queue: JobQueue<Payload>, { kind, address }: Subject): Promise<void> {
  return queue.add(`${kind}:${address}`, { job: 'read', kind, address });
}
