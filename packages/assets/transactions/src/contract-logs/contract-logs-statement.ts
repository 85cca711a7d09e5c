import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import {
  addressBytes,
  asSql,
  expectedTrue,
  hexBytes,
  joinSql,
  type KeysetOrder,
  rawSql,
  rowsAfterInPartitions,
  type Sql,
  sql,
  where,
} from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { int8, packedRows } from '@chainstead/db/packed-rows';
import { blocksOf, type CoveredSubject, type PageBounds, pageRange, scanRange } from '@chainstead/pages';
import { logs } from './dataset.ts';
import { LOG_COLUMNS } from './log-columns.ts';

interface LogPlace {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
}

export interface ContractLogsQuery extends PageBounds {
  readonly contract: Address;
  /** By position, 0 to 3; null: any, or none. */
  readonly topics: readonly (Hash | null)[];
  readonly order: 'ASC' | 'DESC';
  readonly limit: number;
  readonly after: LogPlace | null;
  readonly offset: number;
}

export const BY_TOPIC = 'logs_by_topic';
const PLACE = ['block_number', 'transaction_index', 'log_index'] as const;
const PAGE_COLUMNS = sql`${joinSql(PLACE.map(asSql))}, transaction_hash, topic0, topic1, topic2, topic3, data`;
export const CONTRACT_LOGS = packedRows({ block_number: int8('block_number'), ...LOG_COLUMNS });

/** In each partition a range of the key, or of `logs_by_topic`. Other topics filter its rows. */
export function contractLogsStatement(chain: Chain, query: ContractLogsQuery, select: Sql = CONTRACT_LOGS.select): Sql {
  const contract = sql`${addressBytes(query.contract)}::bytea`;
  const of: CoveredSubject = { kind: 'emitter', subject: contract, chainId: chain.id, dataset: logs.name };
  const { ctes, lower, upper, complete } = pageRange(chain, chain.id, of, query, null);
  const hasTopic = (query.topics[0] ?? null) !== null;
  const after = query.after === null ? null : logsAfter(query.order, query.after, hasTopic);
  const { scan: bounds, far } = scanRange(query.order, { lower, upper }, after);
  const ofContract = [
    sql`address_key = ${addressKey(query.contract)}::bigint`,
    expectedTrue(sql`address = ${contract}`),
    sql`chain_id = ${chain.id}`,
  ];
  const ofThis = [...ofContract, ...ofTopics(query.topics)];
  // The other index ends with the block: in this form, no index has the order.
  const [block, transaction, log] = PLACE;
  const order = [block, hasTopic ? `${transaction} + 0` : transaction, log].map((column) =>
    rawSql(`${column} ${query.order}`),
  );
  const offset = query.after === null && query.offset > 0 ? sql` OFFSET ${query.offset}` : rawSql('');
  const page = sql`SELECT ${PAGE_COLUMNS} FROM logs ${where([...ofThis, ...bounds])}
    ORDER BY ${joinSql(order)} LIMIT ${query.limit + 1}${offset}`;
  const newest = sql`SELECT block_number FROM logs ${where([...ofContract, sql`block_number > coalesce((SELECT indexed_to FROM covered), -1)`])}
    ORDER BY block_number DESC LIMIT 1`;
  return sql`WITH ${joinSql(ctes)}, page AS MATERIALIZED (SELECT * FROM (${page}) AS log ${where(far)})
SELECT covered.indexed_from, covered.indexed_to, ${complete} AS complete,
  greatest(covered.indexed_to, (${newest})) AS newest,
  ${blocksOf(sql`SELECT block_number FROM page`, chain.id)} AS blocks,
  shown.*
FROM covered CROSS JOIN (SELECT ${select} FROM ${CONTRACT_LOGS.fitting('page')}) AS shown`;
}

function ofTopics(topics: readonly (Hash | null)[]): readonly Sql[] {
  return topics.flatMap((topic, position) => {
    if (topic === null) return [];
    const value = sql`${hexBytes(topic)}::bytea`;
    const isEqual = sql`${rawSql(`topic${position}`)} = ${value}`;
    return position === 0
      ? [sql`"substring"(topic0, 1, 4) = "substring"(${value}, 1, 4)`, expectedTrue(isEqual)]
      : [isEqual];
  });
}

/** With a topic the range starts at the block: else the planner would use the key. */
function logsAfter(order: KeysetOrder, place: LogPlace, hasTopic: boolean): readonly Sql[] {
  const [after, notBefore] = rowsAfterInPartitions(order, PLACE, [
    sql`${place.blockNumber}::integer`,
    sql`${place.transactionIndex}::integer`,
    sql`${place.logIndex}::integer`,
  ]);
  return [hasTopic ? expectedTrue(after) : after, notBefore];
}
