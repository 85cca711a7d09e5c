import type { Chain } from '@chainstead/chains';
import {
  type Address,
  ChainsteadError,
  Counter,
  isAddress,
  type Logger,
  parseAddress,
  type Registry,
} from '@chainstead/core';
import { type Database, type RiskyWork, UNWRITTEN, type WorkJournal, WorkSetAsideError } from '@chainstead/db';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import { leasePendingTokens, postponeTokenMetadata, saveTokenMetadata, setTokenAside } from './pending-metadata.ts';
import { createTokenMetadataReader, type TokenMetadata, type TokenMetadataReader } from './token-metadata.ts';

export interface TokenMetadataWorkerOptions {
  readonly database: Database;
  readonly jobs: Jobs;
  /** The chains whose tokens this process reads. */
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Where what might end the process is written down. Default: nowhere. */
  readonly journal?: Pick<WorkJournal, 'run' | 'suspects'>;
  /** How often tokens without metadata are looked for. Default 2,000 ms. */
  readonly sweepEveryMs?: number;
}

/** Fills in what contracts say of themselves, behind the sync engine's back: it only leaves rows with status pending. */
export interface TokenMetadataWorker {
  /** Begins to look for tokens without metadata and to read them. Queues are closed by `jobs.close()`. */
  start(): Promise<void>;
}

/** Tokens in one job. */
const JOB_TOKENS_MAX = 50;
/** Jobs that wait at most, so that none waits longer than its tokens are leased: 20 × 50 tokens are done within seconds. */
const WAITING_JOBS_MAX = 20;
const CONCURRENCY = 2;
const SWEEP_EVERY_MS = 2_000;

const payloadSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sweep') }),
  z.object({ kind: z.literal('read'), addresses: z.array(z.string().refine(isAddress)).min(1) }),
]);
type Payload = z.infer<typeof payloadSchema>;

/**
 * One queue a chain, `token-facts-<chain>`, so that a chain whose upstreams fail delays no other. A sweep, one for all
 * processes, turns pending rows into jobs; a job that is lost leaves rows that a later sweep finds.
 */
export function createTokenMetadataWorker(options: TokenMetadataWorkerOptions): TokenMetadataWorker {
  const { database, jobs, logger, journal = UNWRITTEN } = options;
  const outcomes = new Counter({
    name: 'chainstead_token_facts_total',
    help: 'Token contracts asked for their metadata, by outcome: known, silent (answered nothing), failed (no upstream answered)',
    labelNames: ['chain', 'outcome'],
    registers: [options.metrics],
  });

  async function sweep(chain: Chain, queue: JobQueue<Payload>): Promise<void> {
    const { waiting } = await queue.depth();
    for (let jobs = waiting; jobs < WAITING_JOBS_MAX; jobs++) {
      const addresses = await leasePendingTokens(database, chain.id, JOB_TOKENS_MAX);
      const [first] = addresses;
      // A lease keeps a token out of every other job, so one token names the job.
      if (first !== undefined) await queue.add(`read:${first}`, { kind: 'read', addresses });
      if (addresses.length < JOB_TOKENS_MAX) return;
    }
  }

  /** All together but those that processes ended with before: each of these by itself. */
  async function readJob(
    chain: Chain,
    reader: TokenMetadataReader,
    addresses: readonly Address[],
    ending: AbortSignal,
  ): Promise<void> {
    const workOf = (some: readonly Address[]): RiskyWork => ({
      kind: 'token-facts',
      keys: some.map((address) => `${chain.id} ${address}`),
    });
    const suspects = await journal.suspects(workOf(addresses));
    const isSuspect = (address: Address): boolean => suspects.has(`${chain.id} ${address}`);
    const clear = addresses.filter((address) => !isSuspect(address));
    if (clear.length > 0) await journal.run(workOf(clear), () => read(chain, reader, clear, ending));
    for (const address of addresses.filter(isSuspect))
      try {
        await journal.run(workOf([address]), () => read(chain, reader, [address], ending));
      } catch (error) {
        if (!(error instanceof WorkSetAsideError)) throw error;
        await setTokenAside(database, chain.id, address);
        logger.error({ chain: chain.key, token: address, err: error }, 'Metadata of a token is not asked for any more');
        outcomes.inc({ chain: chain.key, outcome: 'failed' });
      }
  }

  async function read(
    chain: Chain,
    reader: TokenMetadataReader,
    addresses: readonly Address[],
    ending: AbortSignal,
  ): Promise<void> {
    const { metadata, failed, error } = await readAll(reader, addresses, ending);
    // The process ends: what was not read is due again when its lease runs out.
    if (ending.aborted) throw ending.reason;
    if (metadata.size > 0) await saveTokenMetadata(database, chain.id, metadata);
    if (failed.length > 0) {
      await postponeTokenMetadata(database, chain.id, failed);
      logger.warn(
        { chain: chain.key, tokens: failed.length, err: error },
        'Token metadata could not be read, will be tried again',
      );
    }
    const answered = [...metadata.values()].filter((one) => one.answered).length;
    outcomes.inc({ chain: chain.key, outcome: 'known' }, answered);
    outcomes.inc({ chain: chain.key, outcome: 'silent' }, metadata.size - answered);
    outcomes.inc({ chain: chain.key, outcome: 'failed' }, failed.length);
  }

  return {
    async start() {
      for (const { chain, pool } of options.chains) {
        const reader = createTokenMetadataReader({ chain, pool });
        const queue = jobs.queue<Payload>(`token-facts-${chain.key}`, { schema: payloadSchema });
        await queue.work(
          ({ payload, signal }) =>
            payload.kind === 'sweep'
              ? sweep(chain, queue)
              : readJob(chain, reader, payload.addresses.map(parseAddress), signal),
          { concurrency: CONCURRENCY },
        );
        await queue.schedule('sweep', { kind: 'sweep' }, { everyMs: options.sweepEveryMs ?? SWEEP_EVERY_MS });
      }
    },
  };
}

interface Readings {
  readonly metadata: Map<Address, TokenMetadata>;
  readonly failed: readonly Address[];
  /** Why the last of `failed` could not be read. */
  readonly error: unknown;
}

/** Reads all together, and where that fails one by one, so that a contract whose answer no upstream can carry harms only itself. */
async function readAll(
  reader: TokenMetadataReader,
  addresses: readonly Address[],
  ending: AbortSignal,
): Promise<Readings> {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(JOB_MS_MAX)]);
  const together = await attempt(reader, addresses, signal, TOGETHER_MS_MAX);
  const unread = addresses.filter((address) => !together.metadata.has(address));
  if (unread.length === 0 || addresses.length === 1)
    return { metadata: together.metadata, failed: unread, error: together.error };
  const metadata = new Map(together.metadata);
  const failed: Address[] = [];
  let error: unknown = together.error;
  for (const address of unread) {
    const alone = await attempt(reader, [address], signal, ALONE_MS_MAX);
    for (const [key, one] of alone.metadata) metadata.set(key, one);
    if (alone.failed) {
      failed.push(address);
      error = alone.error;
      // The upstreams are down, not the contract odd: the rest would fail alike, each after its time-outs.
      if (failed.length === FAILURES_ALONE_MAX && metadata.size === 0) return { metadata, failed: addresses, error };
    }
  }
  return { metadata, failed, error };
}

const FAILURES_ALONE_MAX = 2;
/** Together shorter than a token's lease (pending-metadata.ts), or another job would read the same tokens meanwhile. Milliseconds. */
const JOB_MS_MAX = 90_000;
const TOGETHER_MS_MAX = 30_000;
const ALONE_MS_MAX = 10_000;

async function attempt(reader: TokenMetadataReader, addresses: readonly Address[], signal: AbortSignal, msMax: number) {
  try {
    return {
      metadata: await reader.read(addresses, AbortSignal.any([signal, AbortSignal.timeout(msMax)])),
      failed: false,
      error: null,
    };
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    return { metadata: new Map<Address, TokenMetadata>(), failed: true, error };
  }
}
