import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, errorText, type Logger, waitLeft } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type ApiContext, type ApiDependencies, type OnDemandBounds, requesterOf } from '@chainstead/http';
import { createSettledWatch } from '@chainstead/jobs';
import { type Requester, requestCollection, requestToken, type TokenSource } from './request-metadata.ts';
import { type AwaitedRow, settledRows } from './settled-rows.ts';
import type { TokenKey } from './token-rows.ts';

export interface MetadataRequestsOptions {
  readonly onDemand: Pick<OnDemandBounds, 'perKey'>;
  readonly clock: Clock;
  /** Errors are logged; no request waits for it. */
  onCollection?(
    context: { readonly database: Database; readonly logger: Logger },
    chain: Chain,
    address: Address,
    requestedBy: string,
  ): Promise<unknown>;
}

export interface MetadataRequests {
  /** Resolves when the row is not pending any more, or after the request's wait. */
  settled(row: AwaitedRow): Promise<unknown>;
  requesterOf(c: ApiContext): Requester;
  announce(chain: Chain, address: Address, requester: Requester): void;
  collection(chain: Chain, address: Address, requester: Requester): Promise<boolean>;
  collectionAgain(chain: Chain, address: Address, requester: Requester): Promise<boolean>;
  token(chain: Chain, token: TokenKey, source: TokenSource, requester: Requester): Promise<boolean>;
}

export type CreateMetadataRequests = (
  dependencies: Pick<ApiDependencies, 'database' | 'logger'>,
) => MetadataRequests;

export function createMetadataRequests(options: MetadataRequestsOptions): CreateMetadataRequests {
  const { onDemand, clock } = options;
  return ({ database, logger }) => {
    const settled = createSettledWatch<AwaitedRow, true>({
      clock,
      logger,
      read: (rows) => settledRows(database, rows),
    });
    return {
      settled: (row) => settled(row, waitLeft()),
      requesterOf: (c) => ({ id: requesterOf(c), limit: onDemand.perKey }),
      announce(chain, address, requester) {
        const facts = { chain: chain.key, token: address };
        options.onCollection?.({ database, logger }, chain, address, requester.id).catch((error: unknown) => {
          const message = 'What follows a request for a collection could not be started';
          logger.warn({ ...facts, error: errorText(error) }, message);
        });
      },
      collection: (chain, address, requester) =>
        requestCollection(database, chain.id, { address, again: false }, requester),
      collectionAgain: (chain, address, requester) =>
        requestCollection(database, chain.id, { address, again: true }, requester),
      token: (chain, token, source, requester) =>
        requestToken(database, chain.id, { ...token, source }, requester),
    };
  };
}
