import { blocksOf, boundsInSql, type PageBounds, type SubjectInSql } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, hexBytes, type Statement, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { int8, packedRows } from '@chainstead/db/packed-rows';
import { logs } from './dataset.ts';
import { LOG_COLUMNS } from './log-columns.ts';

/** Where a page ended: the place of its last row in the chain. */
export interface LogPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

/** What to read. */
export interface ContractLogsQuery extends PageBounds {
  readonly contract: Address;
  /** By position, 0 to 3; null: anything, or nothing. */
  readonly topics: readonly (Hash | null)[];
  readonly order: 'ASC' | 'DESC';
  /** Rows wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Rows strictly beyond this one; null for the first page. */
  readonly after: LogPlace | null;
  /** Rows that the first page leaves out. */
  readonly offset: number;
}

/** The index that pages of one event are ranges of. */
export const BY_TOPIC = 'logs_by_topic';

const TABLE = 'logs';
const PLACE = ['block_number', 'transaction_index', 'log_index'];
const PAGE_COLUMNS = [...PLACE, 'transaction_hash', 'topic0', 'topic1', 'topic2', 'topic3', 'data'].join(', ');

/** The rows of a page. */
export const CONTRACT_LOGS = packedRows({
  block_number: int8('block_number'),
  ...LOG_COLUMNS,
});

/**
 * The statement behind a page of a contract's logs: in each partition a range of the key, or with topic0 of `logs_by_topic`, one partition after the
 * other. What else is asked of topics is compared with the rows of that range.
 */
export function contractLogsStatement(
  chain: Chain,
  query: ContractLogsQuery,
  select: string = CONTRACT_LOGS.select,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const contract = `${bind(addressBytes(query.contract))}::bytea`;
  const chainId = bind(chain.id);
  const of: SubjectInSql = { kind: 'emitter', subject: contract, chainId, dataset: logs.name };
  const { ctes, lower, upper, complete } = boundsInSql(chain, chainId, of, query, bind, null);
  const [near, far] = query.order === 'DESC' ? [upper, lower] : [lower, upper];
  // The key implies the near bounds. Left in, they would be where the scan begins: a btree starts at one bound, not the tighter.
  const hasTopic = (query.topics[0] ?? null) !== null;
  const start = query.after === null ? near : beyond(query.order, query.after, bind, hasTopic);
  const ofThis = [
    `address_key = ${bind(addressKey(query.contract))}::bigint`,
    expectedTrue(`address = ${contract}`),
    `chain_id = ${chainId}`,
    ...ofTopics(query.topics, bind),
  ];
  const bounds = start.length === 0 ? far : start;
  // The other index ends with the block. Written so, no index has the order, and the key's is not read in its place.
  const [block, transaction, log] = PLACE;
  const order = [block, hasTopic ? `${transaction} + 0` : transaction, log].map((one) => `${one} ${query.order}`);
  const offset = query.after === null && query.offset > 0 ? ` OFFSET ${bind(query.offset)}` : '';
  const page = `SELECT ${PAGE_COLUMNS} FROM ${TABLE} ${where([...ofThis, ...bounds])}
    ORDER BY ${order.join(', ')} LIMIT ${bind(query.limit + 1)}${offset}`;
  const newest = `SELECT block_number FROM ${TABLE} ${where([...ofThis.slice(0, 3), 'block_number > coalesce((SELECT indexed_to FROM covered), -1)'])}
    ORDER BY block_number DESC LIMIT 1`;
  const statement = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS log ${where(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (${newest})) AS newest,
  ${blocksOf('SELECT block_number FROM page', chainId)} AS blocks,
  shown.*
FROM covered CROSS JOIN (SELECT ${select} FROM page) AS shown`;
  return { text: statement, values };
}

/** The first four bytes are in the index. */
function ofTopics(topics: readonly (Hash | null)[], bind: (value: unknown) => string): readonly string[] {
  return topics.flatMap((topic, position) => {
    if (topic === null) return [];
    const value = `${bind(hexBytes(topic))}::bytea`;
    const whole = expectedTrue(`topic${position} = ${value}`);
    return position === 0
      ? [`"substring"(topic0, 1, 4) = "substring"(${value}, 1, 4)`, whole]
      : [`topic${position} = ${value}`];
  });
}

/**
 * What is strictly beyond a place. The block stands there alone too: partitions are excluded by it, and with a topic the range begins there, as the place
 * is a bound of the key alone, which would then be read whatever the event.
 */
function beyond(
  order: 'ASC' | 'DESC',
  place: LogPlace,
  bind: (value: unknown) => string,
  hasTopic: boolean,
): readonly string[] {
  const [block, transaction, log] = [place.blockNumber, place.transactionIndex, place.logIndex].map(bind);
  const operator = order === 'DESC' ? '<' : '>';
  const isBeyond = `(${PLACE.join(', ')}) ${operator} (${block}::integer, ${transaction}::integer, ${log}::integer)`;
  return [hasTopic ? expectedTrue(isBeyond) : isBeyond, `block_number ${operator}= ${block}::integer`];
}
