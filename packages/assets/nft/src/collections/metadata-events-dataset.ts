import { type ColumnOf, columnList, columnsAs, hasSameKey, type Sql, sql, tableName } from '@chainstead/db';
import { type DefinedEvent, defineEvent } from '@chainstead/events/decoding';
import { eventDataset, eventRows, type RowsChange, timestampText } from '@chainstead/sync/datasets';
import { nftCollections, nftTokenMetadata, nftMetadataEvents as table } from './schema.ts';

/** Make earlier metadata due again. Events of what was never requested are not stored. */
export const nftMetadataEvents = eventDataset({
  name: 'nft-metadata-events',
  table,
  events: [
    // ERC-4906. Some contracts index the arguments, which it does not.
    aboutTokens(defineEvent('event MetadataUpdate(uint256 first)')),
    aboutTokens(defineEvent('event MetadataUpdate(uint256 indexed first)')),
    aboutTokens(defineEvent('event BatchMetadataUpdate(uint256 first, uint256 last)')),
    aboutTokens(defineEvent('event BatchMetadataUpdate(uint256 indexed first, uint256 last)')),
    aboutTokens(defineEvent('event BatchMetadataUpdate(uint256 indexed first, uint256 indexed last)')),
    // ERC-1155. Some contracts index the text too, or nothing.
    aboutTokens(defineEvent('event URI(string, uint256 indexed first)')),
    aboutTokens(defineEvent('event URI(string indexed, uint256 indexed first)')),
    aboutTokens(defineEvent('event URI(string, uint256 first)')),
    // ERC-7572 and its draft form
    aboutContract(defineEvent('event ContractURIUpdated()')),
    aboutContract(defineEvent('event ContractURIUpdated(string, string)')),
    aboutContract(defineEvent('event ContractURIUpdated(string indexed, string)')),
    aboutContract(defineEvent('event ContractURIUpdated(string indexed, string indexed)')),
  ],
  projections: [
    {
      name: 'nft-metadata-due',
      version: 1,
      tables: [],
      added: (change) => [...makeCollectionsDue(change), makeTokensDue(change)],
      removed: () => [],
    },
  ],
});

interface TokenIds {
  readonly first: string;
  /** Absent: one token. */
  readonly last?: string;
}

function aboutTokens(event: DefinedEvent<object, TokenIds>) {
  return eventRows(event, ({ first, last = first }, { address: tokenAddress, blockNumber }, { timestampOf }) => {
    if (BigInt(last) < BigInt(first)) return [];
    const blockTimestamp = timestampText(timestampOf(blockNumber));
    return { tokenAddress, kind: 0 as const, fromTokenId: first, toTokenId: last, blockTimestamp };
  });
}

function aboutContract(event: DefinedEvent) {
  return eventRows(event, (_values, { address: tokenAddress, blockNumber }, { timestampOf }) => {
    const blockTimestamp = timestampText(timestampOf(blockNumber));
    return { tokenAddress, kind: 1 as const, fromTokenId: null, toTokenId: null, blockTimestamp };
  });
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
