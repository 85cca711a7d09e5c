import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, type Sql, sql } from '@chainstead/db';
import { type ApiDependencies, NotFoundError } from '@chainstead/http';
import type { Indexed, SubjectCoverage } from '@chainstead/pages';
import type { Collection } from '../collections/get-collection.ts';
import type { Requester } from '../collections/request-metadata.ts';
import { readCollectionRows } from '../owners/collection-statement.ts';
import {
  type CollectionState,
  type CollectionSubjectsOptions,
  createCollectionSubjects,
} from '../owners/collection-subjects.ts';
import { TOKENS_MAX } from '../records/read-rarities.ts';
import { requestTraits } from './request-traits.ts';
import type { TraitsStateColumns } from './traits-statement.ts';

export interface RequestedTraitsOptions extends CollectionSubjectsOptions {
  /** `ON_DEMAND_CONCURRENCY_PER_KEY`. */
  readonly perKey: number;
}

export interface TraitsQuestion {
  readonly chain: Chain;
  readonly contract: Address;
  readonly requester: string;
}

export interface FoundTraits<Row> {
  readonly collection: Collection;
  readonly state: CollectionState;
  /** Null if there are no rows of the contract. */
  readonly generation: number | null;
  readonly tokens: number;
  readonly indexed: Indexed;
  readonly rows: readonly Row[];
}

export const NOT_READY = { message: 'Contract is being resynced at the moment. Please try again later.' };

export function createRequestedTraits(
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  options: RequestedTraitsOptions,
) {
  const subjects = createCollectionSubjects({ database, logger, reads: database }, options);
  return {
    /** Null: queues the computation. @throws NotFoundError if too large; TooManyWaitingError */
    async read<Row extends object>(
      { chain, contract, requester: id }: TraitsQuestion,
      statement: Sql,
    ): Promise<FoundTraits<Row> | null> {
      const requester = { id, limit: options.perKey };
      const requested = { chain, contract, requestedBy: id };
      const collection = await subjects.open(requested);
      const found = await readCollectionRows<TraitsStateColumns & { readonly isFound: boolean } & Row>(
        database,
        chain,
        statement,
      );
      const [first] = found.rows;
      if (first === undefined) throw new Error('The statement gives at least one row');
      if ((first.ids ?? 0) > TOKENS_MAX) throw tooLarge(chain, contract);
      if (first.isTooLarge === true) {
        await requestTraits(database, chain, { contract, reason: 'missing' }, requester);
        throw tooLarge(chain, contract);
      }
      const state = await subjects.stateOf(requested, collection, found);
      // Not a collection, or without transfers: there are no traits to wait for.
      const { isNft, status } = collection;
      const isRefused = !isNft && (status === 'not-nft' || status === 'not-contract');
      const isNothing =
        first.generation === null && (first.ids ?? 0) === 0 && (isRefused || found.indexed.complete);
      if (!isNothing)
        await requestMissing(database, { chain, contract, requester }, { collection, found, first });
      if (first.isOld === true)
        await database.query(
          sql`UPDATE nft_collection_traits SET asked_at = now() WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id}`,
        );
      if (first.generation === null && !isNothing) return null;
      return {
        collection,
        state,
        generation: first.generation,
        tokens: first.tokens ?? 0,
        indexed:
          first.generation === null
            ? state.indexed
            : { fromBlock: first.fromBlock, toBlock: first.toBlock, complete: first.isComplete ?? false },
        rows: found.rows.filter(({ isFound }) => isFound),
      };
    },
  };
}

async function requestMissing(
  database: Database,
  { chain, contract, requester }: Omit<TraitsQuestion, 'requester'> & { readonly requester: Requester },
  {
    collection,
    found,
    first,
  }: { readonly collection: Collection; readonly found: SubjectCoverage; readonly first: TraitsStateColumns },
): Promise<void> {
  if (first.isWorking === true) return;
  const isKnown = collection.isNft || (first.ids ?? 0) > 0;
  const isMissing = first.generation === null ? isKnown : first.isComplete === false && found.indexed.complete;
  if (isMissing) await requestTraits(database, chain, { contract, reason: 'missing' }, requester);
}

function tooLarge(chain: Chain, contract: Address): NotFoundError {
  return new NotFoundError(
    `${contract} is too large on ${chain.key}: traits are counted of collections of up to ${TOKENS_MAX} NFTs`,
    { status: 'too-large' },
  );
}
