import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, counter, defineMetrics, type Logger, type Registry } from '@chainstead/core';
import { type Database, hexText, sql, type WorkJournal } from '@chainstead/db';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  type CallBudget,
  createKnownContracts,
  enqueueHistory,
  type HistoryOutcome,
  type RequestOutcome,
  readRetainedFrom,
  type SentTransactions,
} from '@chainstead/sync';
import { type Dataset, datasetsOf, type Subject } from '@chainstead/sync/datasets';
import { isHistoryMissing, type RetentionSettings, readHistory } from '@chainstead/sync/ingest';
import { DUE_HISTORIES, HISTORY_WORK } from '@chainstead/sync/requests';

export const createHistoryMetrics = defineMetrics('chainstead', {
  histories: counter(
    'Number of on-demand backfill turns by kind (wallets, contracts, senders, receivers, emitters, traders) and outcome. Outcomes: done, more (yielded to other work), waits (for final blocks, another search, or node calls of its API key), refused (too many node calls, or quarantined), failed',
    ['chain', 'kind', 'outcome'],
  ),
});

export interface OnDemandBackfillOptions {
  readonly chains: readonly Chain[];
  readonly datasets: readonly Dataset[];
  /** Node calls per subject; 0: none is read. */
  readonly maxCalls: number;
  readonly perKey: number;
  readonly retentionOf?: ((chain: Chain) => RetentionSettings | undefined) | undefined;
}

/** `off`: turned off; `unserved`: no process reads it for the chain. */
export type WalletHistoryAnswer = RequestOutcome | 'off' | 'unserved';

export interface OnDemandContext {
  readonly database: Database;
  readonly logger: Logger;
}

type RequestHistory = (
  context: OnDemandContext,
  chain: Chain,
  address: Address,
  requestedBy: string | null,
) => Promise<WalletHistoryAnswer>;

export interface OnDemandBackfill {
  /** For a caller that found something missing. Never calls a node. */
  requestWallet: RequestHistory;
  /** `known` if no block is missing. Looks rarely, so it may be called at every request. */
  requestContract: RequestHistory;
  requestSender: RequestHistory;
  requestReceiver: RequestHistory;
  /** For rows such as swaps. `unserved` if the chain has no such dataset. */
  requestTrader: RequestHistory;
  /** 0: all. Backfills read no blocks below it. */
  retainedFrom(context: OnDemandContext, chain: Chain): Promise<number>;
  /** `unserved` if the chain's logs are all stored, or no dataset takes any. */
  requestEmitter: RequestHistory;
  work(dueWork: Pick<DueWork, 'add'>, options: WalletHistoryWorkOptions): void;
}

export interface SenderReading {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retention?: RetentionSettings | undefined;
  readonly maxCalls: number;
  readonly sliceMs: number;
  readonly budget?: CallBudget | undefined;
  readonly journal?: Pick<WorkJournal, 'run'>;
}

export type ReadSender = (
  reading: SenderReading,
  subject: Subject,
  signal: AbortSignal,
) => Promise<HistoryOutcome>;

export interface WalletHistoryWorkOptions {
  readonly database: Database;
  readonly chains: readonly {
    readonly chain: Chain;
    readonly pool: UpstreamPool;
    /** Through which `pool` reads. */
    readonly sources?: Parameters<typeof readHistory>[0]['sources'];
    readonly retention?: RetentionSettings | undefined;
  }[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly journal?: Pick<WorkJournal, 'run'>;
  readonly sentTransactions?: SentTransactions;
  readonly readSender?: ReadSender;
  readonly readReceiver?: ReadSender;
  readonly sliceMs?: number;
  /** @default unlimited */
  readonly budget?: CallBudget | undefined;
}

const CONCURRENCY = 3;
/** Another key waits as long at most. */
const SLICE_MS = 10_000;
const RETRY_SECONDS = 30;

type HistoryKey = Pick<Subject, 'kind' | 'address'>;

export function createOnDemandBackfill(options: OnDemandBackfillOptions): OnDemandBackfill {
  const { maxCalls, perKey } = options;
  const served = new Set(options.chains.map(({ id }) => id));

  const looked = createRecentKeys(LOOK_AGAIN_MS);
  const full = createRecentKeys(ASK_AGAIN_MS);

  function request({ database }: OnDemandContext, subject: Subject, requestedBy: string | null) {
    return enqueueHistory(database, { subject, requestedBy, perKey, maxCalls });
  }

  function whyNot(chain: Chain): 'off' | 'unserved' | null {
    if (maxCalls === 0) return 'off';
    const hasHistories = datasetsOf(chain, options.datasets).some((dataset) => dataset.histories !== undefined);
    return served.has(chain.id) && hasHistories ? null : 'unserved';
  }

  function requestState(kind: 'sender' | 'receiver'): RequestHistory {
    return async (context, chain, wallet, requestedBy) => {
      if (maxCalls === 0) return 'off';
      if (!served.has(chain.id)) return 'unserved';
      return request(context, { chainId: chain.id, kind, address: wallet }, requestedBy);
    };
  }

  return {
    async requestWallet(context, chain, wallet, requestedBy) {
      return (
        whyNot(chain) ?? request(context, { chainId: chain.id, kind: 'wallet', address: wallet }, requestedBy)
      );
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
    async requestTrader(context, chain, account, requestedBy) {
      if (maxCalls === 0) return 'off';
      const isRead = datasetsOf(chain, options.datasets).some(
        (dataset) => dataset.transactionHistories !== undefined,
      );
      if (!isRead || !served.has(chain.id)) return 'unserved';
      return request(context, { chainId: chain.id, kind: 'trader', address: account }, requestedBy);
    },
    retainedFrom: ({ database }, chain) =>
      readRetainedFrom(database, { chain, retention: options.retentionOf?.(chain) }),
    async requestEmitter(context, chain, contract, requestedBy) {
      if (maxCalls === 0) return 'off';
      const isRead = options.datasets.some(
        ({ histories }) => (histories?.ofEmitter?.(chain, contract) ?? []).length > 0,
      );
      if (!isRead || !served.has(chain.id)) return 'unserved';
      return request(context, { chainId: chain.id, kind: 'emitter', address: contract }, requestedBy);
    },
    work(dueWork, given) {
      for (const one of given.chains)
        if (served.has(one.chain.id)) addHistories(dueWork, one, given, { datasets: options.datasets, maxCalls });
    },
  };
}

function addHistories(
  dueWork: Pick<DueWork, 'add'>,
  { chain, pool, sources, retention }: WalletHistoryWorkOptions['chains'][number],
  given: WalletHistoryWorkOptions,
  shared: Pick<OnDemandBackfillOptions, 'datasets' | 'maxCalls'>,
): void {
  const { database, clock, logger, journal, budget, sliceMs = SLICE_MS } = given;
  const kept = datasetsOf(chain, shared.datasets);
  const leave: ReadSender = () => Promise.resolve('idle');
  const { readSender = leave, readReceiver = leave } = given;
  const readers = { sender: readSender, receiver: readReceiver } as const;
  const { histories } = createHistoryMetrics(given.metrics);
  const reading = {
    chain,
    pool,
    sources,
    database,
    datasets: shared.datasets.filter((one) => kept.includes(one) || one.histories?.ofEmitter !== undefined),
    knownContracts: createKnownContracts(),
    clock,
    logger,
    retention,
    maxCalls: shared.maxCalls,
    sliceMs,
    budget,
    ...(journal === undefined ? {} : { journal }),
    ...(given.sentTransactions === undefined ? {} : { sentTransactions: given.sentTransactions }),
  };
  async function read({ kind, address }: HistoryKey, signal: AbortSignal): Promise<void> {
    const subject: Subject = { chainId: chain.id, kind, address };
    const readOne = kind === 'sender' || kind === 'receiver' ? readers[kind] : readHistory;
    const outcome = await readOne(reading, subject, signal);
    if (outcome !== 'idle') histories.inc({ chain: chain.key, kind, outcome });
  }
  dueWork.add<HistoryKey>({
    name: HISTORY_WORK,
    chain,
    table: DUE_HISTORIES,
    returning: sql`work.kind, ${hexText('work.subject')} AS address`,
    concurrency: CONCURRENCY,
    async perform(claims, signal) {
      for (const { row } of claims) await read(row, signal);
    },
    retrySeconds: () => RETRY_SECONDS,
  });
}

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

const LOOK_AGAIN_MS = 600_000;
/** Until a key that had too much unfinished is looked at again. */
const ASK_AGAIN_MS = 60_000;
const RECENT_MAX = 10_000;
