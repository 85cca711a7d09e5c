import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';
import { type ApiDependencies, routesFor } from '@chainstead/http';
import {
  type Indexed,
  isSubjectBuilt,
  isUncovered,
  readSubject,
  type SubjectColumns,
  type SubjectCoverage,
  subjectColumns,
  subjectCoverage,
  subjectHistory,
  syncFields,
  syncStateOf,
} from '@chainstead/pages';
import type { OnDemandBackfill } from '@chainstead/pages/on-demand';
import type { SubjectProjections } from '@chainstead/sync/requests';
import { type Collection, getCollection } from '../collections/get-collection.ts';
import type { RecordPages, SendersOf } from '../records/record-pages.ts';
import type { TokenHolders } from '../single-nfts/token-holders.ts';
import type { HeldNow } from '../token-state/held-readers.ts';
import { nftCollectionOwners } from '../transfers/collection-owners.ts';
import { nftTransfers } from '../transfers/dataset.ts';
import { requestUnreadCollections } from '../wallet-collections/request-unread-collections.ts';

export interface CollectionSubjectsOptions {
  readonly projections: SubjectProjections;
  readonly onDemandBackfill: Pick<OnDemandBackfill, 'requestContract'>;
  /** @default unknown */
  readonly sendersOf?: SendersOf;
  /** @default contracts are not called */
  readonly heldNow?: HeldNow;
}

/** What routes of a collection's NFTs and owners share. */
export interface CollectionServices {
  readonly subjects: CollectionSubjects;
  readonly holders: TokenHolders;
  readonly records: RecordPages;
  readonly heldNow: HeldNow;
}

export const { defineRoute, defineListRoute } = routesFor<CollectionServices>();

export const COLLECTION_SYNC = syncFields(
  'SYNCING while blocks of the collection are missing or its transfers are being counted. The list may then lack rows or contain too many',
);

export interface CollectionState {
  readonly status: 'SYNCED' | 'SYNCING';
  readonly message: string | null;
  readonly indexed: Indexed;
}

export interface RequestedCollection {
  readonly chain: Chain;
  readonly address: Address;
  readonly requester: string;
}

export interface CollectionSubjects {
  /** Counts the collection's holdings and waits briefly for it. */
  open(requested: RequestedCollection): Promise<Collection>;
  /** If blocks are missing, queues the backfill, and a first read of the contract. */
  stateOf(
    requested: RequestedCollection,
    collection: Collection,
    coverage: SubjectCoverage,
  ): Promise<CollectionState>;
}

export function createCollectionSubjects(
  { database, logger, reads }: Pick<ApiDependencies, 'database' | 'logger' | 'reads'>,
  { projections, onDemandBackfill }: CollectionSubjectsOptions,
): CollectionSubjects {
  return {
    async open({ chain, address }) {
      await projections.keep(chain, { dataset: nftTransfers, state: nftCollectionOwners }, address);
      return getCollection(reads, chain.id, address);
    },
    async stateOf({ chain, address, requester }, collection, coverage) {
      const { indexed, isCovered } = coverage;
      if (isCovered) return { ...syncStateOf(chain, 'collection', coverage, null), indexed };
      if (collection.isNft) {
        const backfill = await onDemandBackfill.requestContract({ database, logger }, chain, address, requester);
        return { ...syncStateOf(chain, 'collection', coverage, backfill), indexed };
      }
      if (collection.status === 'not-nft' || collection.status === 'not-contract')
        return { status: 'SYNCED', message: null, indexed: { ...indexed, complete: true } };
      const unread = { address, isUnread: collection.status === null, possibleSpam: false };
      await requestUnreadCollections(database, chain, [unread]);
      return { status: 'SYNCING', message: UNKNOWN, indexed };
    },
  };
}

const UNKNOWN = 'Whether this contract is a collection is not known yet: it is being read';

/** `of`: condition of the collection; `isPartial`: transfers are missing or not counted. */
export function collectionStatement(
  chain: Chain,
  contract: Address,
  write: (of: (alias: string) => Sql, isPartial: Sql) => { columns: Sql; rows: Sql; orderBy?: Sql },
): Sql {
  const address = sql`${addressBytes(contract)}`;
  const chainId = sql`${chain.id}`;
  const subject = {
    kind: 'contract',
    subject: address,
    chainId,
    dataset: 'nft-transfers',
    states: [nftCollectionOwners],
  } as const;
  const of = (alias: string): Sql =>
    sql`${rawSql(alias)}.token_address = ${address} AND ${rawSql(alias)}.chain_id = ${chainId}`;
  const isPartial = sql`(${isUncovered(subject, chain)} OR NOT ${isSubjectBuilt(chainId, address, nftCollectionOwners)})`;
  const page = write(of, sql`(SELECT is_partial FROM state)`);
  const order = page.orderBy === undefined ? rawSql('') : sql`\nORDER BY ${page.orderBy}`;
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)}, ${isPartial} AS is_partial,
    (SELECT created_block FROM tokens WHERE tokens.address = ${address} AND tokens.chain_id = ${chainId}) AS created_block
  FROM covered LEFT JOIN ${subjectHistory(subject)}
), page AS MATERIALIZED (SELECT true AS is_there, shown.* FROM (${page.rows}) AS shown)
SELECT state.*, page.is_there IS NOT NULL AS is_there, ${page.columns}
FROM state LEFT JOIN page ON true${order}`;
}

interface CollectionRows<Row> extends SubjectCoverage {
  readonly rows: readonly Row[];
}

export async function readCollectionRows<Row extends object>(
  database: ReadDatabase,
  chain: Chain,
  statement: Sql,
): Promise<CollectionRows<Row>> {
  const rows = await database.select<SubjectColumns & { createdBlock: number | null; isThere: boolean } & Row>(
    statement,
  );
  const [first] = rows;
  return {
    ...readSubject(chain, first, first?.createdBlock ?? chain.firstBlock),
    rows: rows.filter(({ isThere }) => isThere),
  };
}

export type CollectionStats = Readonly<Record<'ids' | 'owners' | 'transfers', string>>;

export function collectionStatsStatement(chain: Chain, contract: Address): Sql {
  return collectionStatement(chain, contract, (of) => ({
    columns: sql`page.ids::text AS ids, page.owners::text AS owners, page.transfers::text AS transfers`,
    rows: sql`SELECT counts.ids, counts.owners, counts.transfers FROM nft_collection_counts AS counts WHERE ${of('counts')}`,
  }));
}
