import { type Hash, keccak256Hex, type Log } from '@chainstead/core';
import { type ColumnOf, columnList, columnsAs, hasSameKey, type Sql, sql, tableName } from '@chainstead/db';
import {
  createBlockTimes,
  type Dataset,
  type DecodeContext,
  defineTable,
  type RowsChange,
} from '@chainstead/sync/datasets';
import { type MetadataEventRow, nftCollections, nftTokenMetadata, nftMetadataEvents as table } from './schema.ts';

/** ERC-4906, ERC-1155, ERC-7572 and its draft form. */
const TOPICS = {
  metadataUpdate: topic('MetadataUpdate(uint256)'),
  batchMetadataUpdate: topic('BatchMetadataUpdate(uint256,uint256)'),
  uri: topic('URI(string,uint256)'),
  contractUriUpdated: topic('ContractURIUpdated()'),
  contractUriChanged: topic('ContractURIUpdated(string,string)'),
} as const;

/** Make earlier metadata due again. Events of what was never requested are not stored. */
export const nftMetadataEvents: Dataset<MetadataEventRow> = {
  name: 'nft-metadata-events',
  topics: () => Object.values(TOPICS),
  table: defineTable(table),
  decode,
  projections: [
    {
      name: 'nft-metadata-due',
      version: 1,
      tables: [],
      added: (change) => [...makeCollectionsDue(change), makeTokensDue(change)],
      removed: () => [],
    },
  ],
};

function decode(logs: readonly Log[], context: DecodeContext): MetadataEventRow[] {
  const times = createBlockTimes(context);
  const rows: MetadataEventRow[] = [];
  for (const log of logs) {
    const about = readEvent(log);
    if (about === null) continue;
    rows.push({
      tokenAddress: log.address,
      chainId: context.chain.id,
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      ...about,
      blockTimestamp: times(log.blockNumber),
    });
  }
  return rows;
}

type About = Pick<MetadataEventRow, 'kind' | 'fromTokenId' | 'toTokenId'>;

function readEvent({ topics, data }: Log): About | null {
  switch (topics[0]) {
    case TOPICS.metadataUpdate:
    case TOPICS.batchMetadataUpdate: {
      // Some contracts index the arguments, which ERC-4906 does not.
      const words = [...topics.slice(1).map((word) => word.slice(2)), ...(data.slice(2).match(/.{64}/g) ?? [])];
      const [from, to = from] = words.map((word) => BigInt(`0x${word}`));
      const isSingle = topics[0] === TOPICS.metadataUpdate;
      if (words.length !== (isSingle ? 1 : 2) || from === undefined || to === undefined || to < from) return null;
      return { kind: 0, fromTokenId: from.toString(), toTokenId: to.toString() };
    }
    case TOPICS.uri: {
      const id = topics[1] === undefined ? null : BigInt(topics[1]).toString();
      return id === null ? null : { kind: 0, fromTokenId: id, toTokenId: id };
    }
    case TOPICS.contractUriUpdated:
    case TOPICS.contractUriChanged:
      return { kind: 1, fromTokenId: null, toTokenId: null };
    default:
      return null;
  }
}

/** How far nodes lag, and clocks differ: such a document counts as older. */
const DOUBT = sql`interval '10 minutes'`;
const changed = columnsAs(table, 'changed');
const COLLECTION = ['tokenAddress', 'chainId'] as const satisfies readonly ColumnOf<typeof nftCollections>[];
const TOKEN = [...COLLECTION, 'tokenId'] as const satisfies readonly ColumnOf<typeof nftTokenMetadata>[];

function makeCollectionsDue({ rows, access }: RowsChange): readonly Sql[] {
  const events = sql`SELECT ${changed.tokenAddress}, ${changed.chainId}, max(${changed.blockTimestamp}) + ${DOUBT} AS newest
      FROM ${rows} AS changed WHERE ${changed.kind} = 1 GROUP BY 1, 2`;
  const isMeant = sql`${isOlder()} AND stored.status IN ('known', 'failed')`;
  if (access.isLocal) return [updateInOrder(nftCollections, COLLECTION, events, isMeant)];
  // Citus can't update a reference table by a temporary one, but can update a row by its key.
  return [
    sql`CREATE TEMP TABLE IF NOT EXISTS contract_uri_events (token_address bytea, chain_id bigint, newest timestamptz) ON COMMIT DELETE ROWS`,
    sql`DELETE FROM contract_uri_events`,
    sql`INSERT INTO contract_uri_events ${events}`,
    sql`DO $$ DECLARE meant record; BEGIN
      FOR meant IN SELECT stored.token_address, stored.chain_id FROM contract_uri_events AS event JOIN nft_collections AS stored ON ${isMeant} ORDER BY 1, 2 LOOP
        UPDATE nft_collections SET due_at = now() WHERE ${hasSameKey(nftCollections, COLLECTION, 'nft_collections', 'meant')};
      END LOOP;
    END $$`,
  ];
}

function makeTokensDue({ rows, access }: RowsChange): Sql {
  const events = sql`SELECT ${changed.tokenAddress}, ${changed.chainId}, ${changed.fromTokenId}, ${changed.toTokenId},
        max(${changed.blockTimestamp}) + ${DOUBT} AS newest
      FROM ${rows} AS changed WHERE ${changed.kind} = 0 GROUP BY 1, 2, 3, 4`;
  const isMeant = sql`${isOlder()} AND stored.token_id BETWEEN event.from_token_id AND event.to_token_id AND stored.status <> 'pending'`;
  if (access.isLocal) return updateInOrder(nftTokenMetadata, TOKEN, events, isMeant);
  return sql`WITH event AS MATERIALIZED (${events}) UPDATE nft_token_metadata AS stored SET due_at = now() FROM event WHERE ${isMeant}`;
}

function isOlder(): Sql {
  return sql`${hasSameKey(nftCollections, COLLECTION, 'stored', 'event')} AND event.newest > coalesce(stored.synced_at, '-infinity')`;
}

/** So that two writers don't deadlock. Across nodes the failed writer is retried. */
function updateInOrder<Table extends typeof nftCollections | typeof nftTokenMetadata>(
  of: Table,
  key: readonly ColumnOf<Table>[],
  events: Sql,
  isMeant: Sql,
): Sql {
  const stored = columnList<Table>(of, key, 'stored');
  return sql`UPDATE ${tableName(of)} SET due_at = now() WHERE (${columnList<Table>(of, key)}) IN (
    SELECT ${stored} FROM (${events}) AS event JOIN ${tableName(of)} AS stored ON ${isMeant}
    ORDER BY ${stored} FOR UPDATE OF stored)`;
}

function topic(signature: string): Hash {
  return keccak256Hex(Buffer.from(signature));
}
