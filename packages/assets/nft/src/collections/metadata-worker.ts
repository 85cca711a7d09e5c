import type { Chain } from '@chainstead/chains';
import { counter, defineMetrics, type Logger, type Registry } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { DueWork } from '@chainstead/jobs/worker';
import type { UpstreamPool } from '@chainstead/rpc';
import {
  COLLECTION_COLUMNS_CLAIMED,
  COLLECTION_METADATA,
  DUE_COLLECTIONS,
  type DueCollection,
  forgetRefusals,
} from './collection-rows.ts';
import { createContractReader } from './read-contract.ts';
import type { DocumentReader } from './read-document.ts';
import { type MetadataContext, type OnCollection, readDueCollection } from './read-due-collection.ts';
import { readDueToken } from './read-due-token.ts';
import { nodeRetryDelay } from './retry-delay.ts';
import { DUE_TOKENS, type DueToken, TOKEN_COLUMNS_CLAIMED, TOKEN_METADATA } from './token-rows.ts';

export interface MetadataOptions {
  readonly database: Database;
  readonly chains: readonly { readonly chain: Chain; readonly pool: UpstreamPool }[];
  readonly documents: DocumentReader;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly onCollection?: OnCollection;
}

const CONCURRENCY = 16;
/** Milliseconds. Contract events make rows due without a notification. */
const SWEEP_EVERY_MS = 5_000;

export const createMetadataMetrics = defineMetrics('chainstead_nft', {
  metadataReadings: counter(
    'Number of NFT metadata reads by kind and outcome: known, document-failed, none (no metadata URI), not-nft, not-contract, failed (no upstream responded)',
    ['chain', 'kind', 'outcome'],
  ),
});

export function addNftMetadata(dueWork: Pick<DueWork, 'add'>, options: MetadataOptions): void {
  const { database, logger } = options;
  const { metadataReadings } = createMetadataMetrics(options.metrics);
  for (const { chain, pool } of options.chains) {
    const context: MetadataContext = {
      database,
      chain,
      contracts: createContractReader({ chain, pool }),
      documents: options.documents,
      logger,
      count: (kind, outcome) => metadataReadings.inc({ chain: chain.key, kind, outcome }),
      onCollection: options.onCollection,
    };
    dueWork.add<DueCollection>({
      name: COLLECTION_METADATA,
      chain,
      table: DUE_COLLECTIONS,
      returning: COLLECTION_COLUMNS_CLAIMED,
      concurrency: CONCURRENCY,
      sweepEveryMs: SWEEP_EVERY_MS,
      risk: { kind: 'collection', keyOf: ({ address }) => `${chain.id} ${address}` },
      async perform(claims, signal) {
        for (const claim of claims) await readDueCollection(context, claim, signal);
      },
      retrySeconds: ({ attempts }) => nodeRetryDelay(attempts),
      tidy: () => forgetRefusals(database, chain.id),
    });
    dueWork.add<DueToken>({
      name: TOKEN_METADATA,
      chain,
      table: DUE_TOKENS,
      returning: TOKEN_COLUMNS_CLAIMED,
      concurrency: CONCURRENCY,
      sweepEveryMs: SWEEP_EVERY_MS,
      risk: {
        kind: 'token',
        keyOf: ({ address, tokenId }) => `${chain.id} ${address} ${tokenId}`,
        originOf: ({ address }) => `${chain.id} ${address}`,
      },
      async perform(claims, signal) {
        for (const claim of claims) await readDueToken(context, claim, signal);
      },
      retrySeconds: ({ attempts }) => nodeRetryDelay(attempts),
    });
  }
}
