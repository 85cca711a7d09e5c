import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, hexText, rawSql, type Sql, sql, transactionLock } from '@chainstead/db';
import { type ApiDependencies, NotFoundError, routesFor } from '@chainstead/http';
import { type Claim, type DueTable, dueChannel, isClaimed, SETTLED } from '@chainstead/jobs';
import type { Indexed, SubjectCoverage } from '@chainstead/pages';
import type { Collection } from '../collections/get-collection.ts';
import { type Requester, TooManyWaitingError } from '../collections/request-metadata.ts';
import {
  type CollectionState,
  type CollectionSubjectsOptions,
  createCollectionSubjects,
  type RequestedCollection,
  readCollectionRows,
} from '../owners/collection-subjects.ts';
import { TOKENS_MAX } from '../records/read-rarities.ts';
import type { RecordPages } from '../records/record-pages.ts';
import type { TraitsWork } from './traits-at-work.ts';
import type { TraitsStateColumns } from './traits-statement.ts';

export interface RequestedTraitsOptions extends CollectionSubjectsOptions {
  /** `ON_DEMAND_CONCURRENCY_PER_KEY`. */
  readonly perKey: number;
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

export interface TraitsServices {
  readonly traits: ReturnType<typeof createRequestedTraits>;
  readonly records: RecordPages;
  readonly perKey: number;
}

export const { defineRoute, defineListRoute } = routesFor<TraitsServices>();

export const NOT_READY = { message: 'Contract is being resynced at the moment. Please try again later.' };

export function createRequestedTraits(
  { database, logger }: Pick<ApiDependencies, 'database' | 'logger'>,
  options: RequestedTraitsOptions,
) {
  const subjects = createCollectionSubjects({ database, logger, reads: database }, options);
  return {
    /** Null: queues the computation. @throws NotFoundError if too large; TooManyWaitingError */
    async read<Row extends object>(
      requested: RequestedCollection,
      statement: Sql,
    ): Promise<FoundTraits<Row> | null> {
      const { chain, address: contract } = requested;
      const requester = { id: requested.requester, limit: options.perKey };
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
  {
    chain,
    contract,
    requester,
  }: { readonly chain: Chain; readonly contract: Address; readonly requester: Requester },
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

type TraitsReason =
  /** There is none, or the existing one misses known ids. */
  | 'missing'
  /** Documents are to be read again. */
  | 'again';

/** `working`: requested before; `resting`: too soon after the last; `unknown`: never requested. */
export type TraitsRequest = 'begun' | 'working' | 'resting' | 'unknown';

/** Seconds between generations that read everything again, or were too large. */
const AGAIN_SECONDS = 1_800;
/** Seconds after a generation that misses ids, or failed. */
const MISSING_SECONDS = 60;

/** A collection counts as one job, however many ids it has. @throws TooManyWaitingError */
export async function requestTraits(
  database: Database,
  chain: Chain,
  { contract, reason }: { readonly contract: Address; readonly reason: TraitsReason },
  requester: Requester,
): Promise<TraitsRequest> {
  const rest = reason === 'again' ? AGAIN_SECONDS : MISSING_SECONDS;
  const [known] = await database.query<{ isWorking: boolean; isResting: boolean }>(
    sql`SELECT work IS NOT NULL AS is_working,
       requested_at > now() - make_interval(secs => CASE WHEN is_too_large THEN ${rawSql(AGAIN_SECONDS)} ELSE ${rest}::int END) AS is_resting
      FROM nft_collection_traits WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id}`,
  );
  if (known === undefined && reason === 'again') return 'unknown';
  if (known?.isWorking === true) return 'working';
  if (known?.isResting === true) return 'resting';
  return database.transaction(async (transaction) => {
    await transactionLock(transaction, `traits:${requester.id}`);
    const [unfinished] = await transaction.query<{ count: number }>(
      sql`SELECT count(*)::int AS count FROM nft_collection_traits WHERE work IS NOT NULL AND requested_by = ${requester.id}`,
    );
    if ((unfinished?.count ?? 0) >= requester.limit) throw new TooManyWaitingError(requester.limit);
    const begun = await transaction.query(
      sql`INSERT INTO nft_collection_traits AS known (token_address, chain_id, work, read_after, requested_by, due_at)
       SELECT ${addressBytes(contract)}, ${chain.id}, 'history', CASE WHEN ${reason === 'again'}::boolean THEN now() END, ${requester.id}, now()
       ON CONFLICT (token_address, chain_id) DO UPDATE SET work = excluded.work, work_after = NULL, work_generation = NULL,
         read_after = excluded.read_after, due_at = excluded.due_at, attempts = 0, requested_at = excluded.requested_at,
         requested_by = excluded.requested_by, asked_at = excluded.asked_at
       WHERE known.work IS NULL RETURNING chain_id`,
    );
    if (begun.length === 0) return 'working';
    transaction.notify(dueChannel(TRAITS_WORK, chain.id));
    return 'begun';
  });
}

export const TRAITS_WORK = 'nft-traits';

export const DUE_TRAITS: DueTable = {
  name: 'nft_collection_traits',
  key: ['token_address', 'chain_id'],
  // Matches the index `nft_collection_traits_due`.
  isOpen: sql`work IS NOT NULL`,
};

export interface DueTraits {
  readonly address: Address;
  readonly work: TraitsWork;
}

export const TRAITS_COLUMNS_CLAIMED = sql`${hexText('work.token_address')} AS address, work.work`;

/** Unfinished work, or work requested meanwhile, becomes due. @param ms until then */
export async function endTraitsClaim(database: Database, claim: Claim<unknown>, ms: number): Promise<void> {
  await database.query(
    sql`UPDATE nft_collection_traits SET ${SETTLED},
       due_at = CASE WHEN work IS NOT NULL THEN coalesce(due_at, now() + make_interval(secs => ${ms / 1_000})) END WHERE ${isClaimed(DUE_TRAITS, claim)}`,
  );
}

export async function countQueuing(database: Database, chain: Chain): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    sql`SELECT count(*)::int AS count FROM nft_collection_traits WHERE chain_id = ${chain.id} AND work = 'queue'`,
  );
  return row?.count ?? 0;
}
