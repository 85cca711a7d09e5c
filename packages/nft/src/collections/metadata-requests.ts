import type { Chain } from '@chainstead/chains';
import { type Address, type Clock, errorText, type Logger } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { ApiContext, ApiDependencies } from '@chainstead/http';
import type { JobQueue, Jobs } from '@chainstead/jobs';
import { collectionJobId, type MetadataJob, openMetadataQueue, tokenJobId } from './metadata-queue.ts';
import { type Requester, requestCollection, requestToken, type TokenSource } from './request-metadata.ts';
import { createSettledWatch, type SettledWatch } from './settled-watch.ts';
import type { TokenKey } from './token-rows.ts';

/** Of the time that a request may take, what it may wait. */
const WAIT_SHARE = 0.8;

export interface MetadataRequestsOptions {
  readonly jobs: Jobs;
  /** How long a request waits (`INDEX_WAIT_MS`), and how much one key may leave waiting (`ON_DEMAND_PER_KEY`). */
  readonly onDemand: { readonly waitMs: number; readonly perKey: number };
  readonly clock: Clock;
  /** Called when somebody has asked for a contract that is an NFT. Its errors are logged, nothing waits for it. */
  onCollection?(
    context: { readonly database: Database; readonly logger: Logger },
    chain: Chain,
    address: Address,
    requestedBy: string,
  ): Promise<unknown>;
}

/** What routes leave to workers. Every request is a row first; the job only makes it quick. */
export interface MetadataRequests {
  readonly waitMs: number;
  readonly watch: SettledWatch;
  requesterOf(c: ApiContext): Requester;
  /** Says that somebody has asked for a contract that is an NFT. */
  announce(chain: Chain, address: Address, requester: Requester): void;
  /** A collection that was never read, or was refused. @throws TooManyWaitingError */
  collection(chain: Chain, address: Address, requester: Requester): Promise<void>;
  /** A collection, what is known already too. @throws TooManyWaitingError */
  collectionAgain(chain: Chain, address: Address, requester: Requester): Promise<void>;
  /** @throws TooManyWaitingError */
  token(chain: Chain, token: TokenKey, source: TokenSource, requester: Requester): Promise<void>;
}

export type CreateMetadataRequests = (
  dependencies: Pick<ApiDependencies, 'database' | 'logger' | 'limits'>,
) => MetadataRequests;

/** One for all routes of a process: a queue is opened once. */
export function createMetadataRequests(options: MetadataRequestsOptions): CreateMetadataRequests {
  const { jobs, onDemand, clock } = options;
  const queues = new Map<number, JobQueue<MetadataJob>>();

  function queueOf(chain: Chain): JobQueue<MetadataJob> {
    const queue = queues.get(chain.id) ?? openMetadataQueue(jobs, chain);
    queues.set(chain.id, queue);
    return queue;
  }

  return ({ database, logger, limits }) => {
    /** Not waited for: a queue that is away must not hold up requests, and a sweep finds the row. */
    function addJob(chain: Chain, id: string, payload: MetadataJob): void {
      queueOf(chain)
        .add(id, payload)
        .catch((error: unknown) =>
          logger.warn({ chain: chain.key, job: id, error: errorText(error) }, 'Job could not be added, a sweep will'),
        );
    }
    async function addCollection(
      chain: Chain,
      asked: { readonly address: Address; readonly again: boolean },
      requester: Requester,
    ): Promise<void> {
      const { address } = asked;
      if (await requestCollection(database, chain.id, asked, requester))
        addJob(chain, collectionJobId(address), { kind: 'collection', address });
    }
    return {
      // A request that waits longer than requests may take would be answered 503.
      waitMs: Math.min(onDemand.waitMs, limits.requestTimeoutMs * WAIT_SHARE),
      watch: createSettledWatch({ database, clock, logger }),
      requesterOf: (c) => ({ id: c.get('principal')?.id ?? 'open', limit: onDemand.perKey }),
      announce(chain, address, requester) {
        options
          .onCollection?.({ database, logger }, chain, address, requester.id)
          .catch((error: unknown) =>
            logger.warn(
              { chain: chain.key, token: address, error: errorText(error) },
              'What follows a request for a collection could not be started',
            ),
          );
      },
      collection: (chain, address, requester) => addCollection(chain, { address, again: false }, requester),
      collectionAgain: (chain, address, requester) => addCollection(chain, { address, again: true }, requester),
      async token(chain, token, source, requester) {
        if (await requestToken(database, chain.id, { ...token, source }, requester))
          addJob(chain, tokenJobId(token), { kind: 'token', ...token });
      },
    };
  };
}
