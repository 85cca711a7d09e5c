import type { Chain } from '@chainstead/chains';
import {
  type Address,
  ChainsteadError,
  counter,
  defineMetrics,
  type Logger,
  type Registry,
} from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';
import { type Claim, failDue, TOKEN_FACTS_WORK } from '@chainstead/jobs';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import { saveTokenMetadata, TOKEN_FACTS, tokenRetrySeconds } from './pending-metadata.ts';
import { createTokenMetadataReader, type TokenMetadata, type TokenMetadataReader } from './token-metadata.ts';

export interface TokenFactsOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly logger: Logger;
  readonly metrics: Registry;
}

const BATCH = 50;
const CONCURRENCY = 2;

export const createTokenMetrics = defineMetrics('chainstead', {
  tokenFacts: counter(
    'Number of token metadata reads by outcome: known, silent (the contract returned nothing), failed (no upstream responded)',
    ['chain', 'outcome'],
  ),
});

export function addTokenFacts(dueWork: Pick<DueWork, 'add'>, options: TokenFactsOptions): void {
  const { database, logger } = options;
  const { tokenFacts } = createTokenMetrics(options.metrics);

  async function read(
    chain: Chain,
    reader: TokenMetadataReader,
    claims: readonly Claim<DueToken>[],
    ending: AbortSignal,
  ): Promise<void> {
    const addresses = claims.map(({ row }) => row.address);
    // A node that lags behind has the facts from before.
    const minBlock = Math.max(...claims.map(({ row }) => row.fromBlock));
    const readTokens: ReadTokens = (some, signal) => reader.read(some, signal, minBlock);
    const { metadata, failed, error } = await readAll(readTokens, addresses, ending);
    ending.throwIfAborted();
    if (metadata.size > 0) await saveTokenMetadata(database, chain.id, metadata);
    for (const claim of claims.filter(({ row }) => failed.includes(row.address)))
      await failDue(database, TOKEN_FACTS, claim, { error, retrySeconds: tokenRetrySeconds(claim.attempts) });
    if (failed.length > 0)
      logger.warn(
        { chain: chain.key, tokens: failed.length, err: error },
        'Token metadata could not be read, will be tried again',
      );
    const answered = [...metadata.values()].filter((facts) => facts.answered).length;
    tokenFacts.inc({ chain: chain.key, outcome: 'known' }, answered);
    tokenFacts.inc({ chain: chain.key, outcome: 'silent' }, metadata.size - answered);
    tokenFacts.inc({ chain: chain.key, outcome: 'failed' }, failed.length);
  }

  for (const { chain, pool } of options.chains) {
    const reader = createTokenMetadataReader({ chain, pool });
    dueWork.add<DueToken>({
      name: TOKEN_FACTS_WORK,
      chain,
      table: TOKEN_FACTS,
      returning: sql`${hexText('work.address')} AS address, coalesce(work.facts_from_block, 0) AS "fromBlock"`,
      concurrency: CONCURRENCY,
      batch: BATCH,
      risk: { kind: 'token-facts', keyOf: ({ address }) => `${chain.id} ${address}` },
      perform: (claims, signal) => read(chain, reader, claims, signal),
      retrySeconds: ({ attempts }) => tokenRetrySeconds(attempts),
    });
  }
}

interface DueToken {
  readonly address: Address;
  readonly fromBlock: number;
}

type ReadTokens = (addresses: readonly Address[], signal: AbortSignal) => ReturnType<TokenMetadataReader['read']>;

/** All together, then one by one, so that an unreadable contract harms only itself. */
async function readAll(read: ReadTokens, addresses: readonly Address[], ending: AbortSignal) {
  const signal = AbortSignal.any([ending, AbortSignal.timeout(JOB_MS_MAX)]);
  const together = await attempt(read, addresses, signal, TOGETHER_MS_MAX);
  const unread = addresses.filter((address) => !together.metadata.has(address));
  if (unread.length === 0 || addresses.length === 1)
    return { metadata: together.metadata, failed: unread, error: together.error };
  const metadata = new Map(together.metadata);
  const failed: Address[] = [];
  let error: unknown = together.error;
  for (const address of unread) {
    const alone = await attempt(read, [address], signal, ALONE_MS_MAX);
    for (const [key, facts] of alone.metadata) metadata.set(key, facts);
    if (alone.failed) {
      failed.push(address);
      error = alone.error;
      // The upstreams are down: the rest would fail too, each after its time-outs.
      if (failed.length === FAILURES_ALONE_MAX && metadata.size === 0)
        return { metadata, failed: addresses, error };
    }
  }
  return { metadata, failed, error };
}

const FAILURES_ALONE_MAX = 2;
/** Milliseconds for a batch. */
const JOB_MS_MAX = 90_000;
const TOGETHER_MS_MAX = 30_000;
const ALONE_MS_MAX = 10_000;

async function attempt(read: ReadTokens, addresses: readonly Address[], signal: AbortSignal, msMax: number) {
  try {
    return {
      metadata: await read(addresses, AbortSignal.any([signal, AbortSignal.timeout(msMax)])),
      failed: false,
      error: null,
    };
  } catch (error) {
    if (!(error instanceof ChainsteadError)) throw error;
    return { metadata: new Map<Address, TokenMetadata>(), failed: true, error };
  }
}
