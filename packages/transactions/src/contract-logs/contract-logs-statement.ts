import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { blocksOfOld, boundsInSqlOld, type PageBounds, type SubjectInSql, scanBoundsOld } from '@chainstead/data-api';
import {
  addressBytes,
  type Bind,
  expectedTrueOld,
  hexBytes,
  type KeysetOrder,
  rowsAfterInPartitionsOld,
  type Statement,
  whereOld,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { int8, packedRows } from '@chainstead/db/packed-rows';
import { logs } from './dataset.ts';
import { LOG_COLUMNS } from './log-columns.ts';

/** The end of a page: the position of its last row in the chain. */
export interface LogPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

export interface ContractLogsQuery extends PageBounds {
  readonly contract: Address;
  /** By position, 0 to 3; null: any topic, or none. */
  readonly topics: readonly (Hash | null)[];
  readonly order: 'ASC' | 'DESC';
  /** Number of rows; one more is read to detect a next page. */
  readonly limit: number;
  /** Rows after this one; null for the first page. */
  readonly after: LogPlace | null;
  /** Rows that the first page skips. */
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
 * Returns the statement for a page of a contract's logs: in each partition a range of the key, or with topic0 of
 * `logs_by_topic`, one partition after the other. Other topics are compared to the rows of that range.
 */
export function contractLogsStatement(
  chain: Chain,
  query: ContractLogsQuery,
  select: string = CONTRACT_LOGS.selectOld,
): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const contract = `${bind(addressBytes(query.contract))}::bytea`;
  const chainId = bind(chain.id);
  const of: SubjectInSql = { kind: 'emitter', subject: contract, chainId, dataset: logs.name };
  const { ctes, lower, upper, complete } = boundsInSqlOld(chain, chainId, of, query, bind, null);
  const hasTopic = (query.topics[0] ?? null) !== null;
  const after = query.after === null ? null : logsAfter(query.order, query.after, bind, hasTopic);
  const { scan: bounds, far } = scanBoundsOld(query.order, { lower, upper }, after);
  const ofThis = [
    `address_key = ${bind(addressKey(query.contract))}::bigint`,
    expectedTrueOld(`address = ${contract}`),
    `chain_id = ${chainId}`,
    ...ofTopics(query.topics, bind),
  ];
  // The other index ends with the block. In this form no index has the order, so that the key's is not used instead.
  const [block, transaction, log] = PLACE;
  const order = [block, hasTopic ? `${transaction} + 0` : transaction, log].map((one) => `${one} ${query.order}`);
  const offset = query.after === null && query.offset > 0 ? ` OFFSET ${bind(query.offset)}` : '';
  const page = `SELECT ${PAGE_COLUMNS} FROM ${TABLE} ${whereOld([...ofThis, ...bounds])}
    ORDER BY ${order.join(', ')} LIMIT ${bind(query.limit + 1)}${offset}`;
  const newest = `SELECT block_number FROM ${TABLE} ${whereOld([...ofThis.slice(0, 3), 'block_number > coalesce((SELECT indexed_to FROM covered), -1)'])}
    ORDER BY block_number DESC LIMIT 1`;
  const statement = `WITH ${ctes.join(', ')}, page AS MATERIALIZED (SELECT * FROM (${page}) AS log ${whereOld(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (${newest})) AS newest,
  ${blocksOfOld('SELECT block_number FROM page', chainId)} AS blocks,
  shown.*
FROM covered CROSS JOIN (SELECT ${select} FROM ${CONTRACT_LOGS.fittingOld('page')}) AS shown`;
  return { text: statement, values };
}

/** The first four bytes are in the index. */
function ofTopics(topics: readonly (Hash | null)[], bind: (value: unknown) => string): readonly string[] {
  return topics.flatMap((topic, position) => {
    if (topic === null) return [];
    const value = `${bind(hexBytes(topic))}::bytea`;
    const whole = expectedTrueOld(`topic${position} = ${value}`);
    return position === 0
      ? [`"substring"(topic0, 1, 4) = "substring"(${value}, 1, 4)`, whole]
      : [`topic${position} = ${value}`];
  });
}

/**
 * With a topic, the range starts at the block: the full position is a bound of the key alone, which would then be used
 * whatever the event.
 */
function logsAfter(order: KeysetOrder, place: LogPlace, bind: Bind, hasTopic: boolean): readonly string[] {
  const values = [place.blockNumber, place.transactionIndex, place.logIndex].map((value) => `${bind(value)}::integer`);
  const [after, notBefore] = rowsAfterInPartitionsOld(order, PLACE, values);
  return [hasTopic ? expectedTrueOld(after) : after, notBefore];
}
