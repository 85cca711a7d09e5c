import { type Hash, keccak256Hex, type Log } from '@chainstead/core';
import {
  createBlockTimes,
  type Dataset,
  type DecodeContext,
  defineTable,
  IN_PLACE,
  type Reading,
} from '@chainstead/sync';
import { type MetadataEventRow, nftMetadataEvents as table } from './schema.ts';

/** ERC-4906, ERC-1155, ERC-7572 and the form of ERC-7572 that came before it was settled. */
const TOPICS = {
  metadataUpdate: topic('MetadataUpdate(uint256)'),
  batchMetadataUpdate: topic('BatchMetadataUpdate(uint256,uint256)'),
  uri: topic('URI(string,uint256)'),
  contractUriUpdated: topic('ContractURIUpdated()'),
  contractUriChanged: topic('ContractURIUpdated(string,string)'),
} as const;

/**
 * Events by which contracts tell that documents have changed. What is known of a collection or a token, and was read before such an
 * event, is due to be read again; of what nobody ever asked for there is nothing to mark.
 */
export const nftMetadataEvents: Dataset<MetadataEventRow> = {
  name: 'nft-metadata-events',
  topics: () => Object.values(TOPICS),
  table: defineTable(table),
  decode,
  derived: [
    {
      name: 'nft-metadata-due',
      version: 1,
      // Rows of what was asked for are no sum of events: they only hear of them.
      tables: [],
      added: (rows, _kept, reading = IN_PLACE) => [collectionsDue(rows, reading), tokensDue(rows, reading)],
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

/** Null for other logs, and for arguments that make no sense. */
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

/** A node may have been behind when the document was read, and clocks differ: what was read so shortly before counts as older. */
const DOUBT = `interval '10 minutes'`;

/** From the events to what is known, so that an event of anything else costs one look by key. */
function collectionsDue(rows: string, reading: Reading): string {
  return makeDue(reading, {
    table: 'nft_collections',
    key: ['token_address', 'chain_id'],
    isOnEveryNode: true,
    events: `SELECT token_address, chain_id, max(block_timestamp) + ${DOUBT} AS newest FROM ${rows} AS changed WHERE kind = 1 GROUP BY 1, 2`,
    condition: `known.status IN ('known', 'failed')`,
  });
}

function tokensDue(rows: string, reading: Reading): string {
  return makeDue(reading, {
    table: 'nft_token_metadata',
    key: ['token_address', 'chain_id', 'token_id'],
    isOnEveryNode: false,
    events: `SELECT token_address, chain_id, from_token_id, to_token_id, max(block_timestamp) + ${DOUBT} AS newest FROM ${rows} AS changed
      WHERE kind = 0 GROUP BY 1, 2, 3, 4`,
    condition: `known.token_id BETWEEN event.from_token_id AND event.to_token_id AND known.status <> 'pending'`,
  });
}

interface Due {
  readonly table: string;
  readonly key: readonly string[];
  /** Where tables are distributed: whole on every node, not in shards. */
  readonly isOnEveryNode: boolean;
  readonly events: string;
  readonly condition: string;
}

/** In the order of the key, so that two who do so don't wait for each other; over several nodes there is none, and who loses tries again. */
function makeDue({ isInPlace }: Reading, { table, key, isOnEveryNode, events, condition }: Due): string {
  const isMeant = `known.token_address = event.token_address AND known.chain_id = event.chain_id AND ${condition}
      AND event.newest > coalesce(known.synced_at, '-infinity')`;
  const columns = key.map((column) => `known.${column}`).join(', ');
  if (!isInPlace && isOnEveryNode)
    // Citus plans no change of such a table that reads a temporary one, but does one of a row whose key it is given.
    return `DO $$ DECLARE meant record; BEGIN
      FOR meant IN SELECT ${columns} FROM (${events}) AS event JOIN ${table} AS known ON ${isMeant} ORDER BY ${columns} LOOP
        UPDATE ${table} SET due_at = now() WHERE ${key.map((column) => `${column} = meant.${column}`).join(' AND ')};
      END LOOP;
    END $$`;
  if (!isInPlace)
    return `WITH event AS MATERIALIZED (${events}) UPDATE ${table} AS known SET due_at = now() FROM event WHERE ${isMeant}`;
  return `UPDATE ${table} SET due_at = now() WHERE (${key.join(', ')}) IN (
    SELECT ${columns} FROM (${events}) AS event JOIN ${table} AS known ON ${isMeant}
    ORDER BY ${columns} FOR UPDATE OF known)`;
}

function topic(signature: string): Hash {
  return keccak256Hex(Buffer.from(signature));
}
