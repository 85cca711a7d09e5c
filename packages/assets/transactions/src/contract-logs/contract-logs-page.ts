import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, hexBytes, rawSql, type Sql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { hex, hexOrNull, int4, int8, longHex, packedRows, type RowOf } from '@chainstead/db/packed-rows';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  LOG_ORDER,
  type LogPosition,
  newestOfRun,
} from '@chainstead/pages';
import { logs } from './dataset.ts';

export interface ContractLogsQuery extends ChainQuery<LogPosition> {
  readonly contract: Address;
  /** By position, 0 to 3; empty: any, or none. */
  readonly topics: readonly (Hash | null | undefined)[];
  readonly offset: number;
}

export type ContractLog = RowOf<typeof CONTRACT_LOGS>;

export const BY_TOPIC = 'logs_by_topic';
export const LOG_COLUMNS = {
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
  topic0: hexOrNull<Hash>('topic0', 32),
  topic1: hexOrNull<Hash>('topic1', 32),
  topic2: hexOrNull<Hash>('topic2', 32),
  topic3: hexOrNull<Hash>('topic3', 32),
  data: longHex('data'),
};

const CONTRACT_LOGS = packedRows({ block_number: int8('block_number'), ...LOG_COLUMNS });
const COLUMNS = sql`block_number, transaction_index, log_index, transaction_hash, topic0, topic1, topic2, topic3, data`;

/** In each partition a range of the key, or of `logs_by_topic`. Other topics filter its rows. */
export function contractLogsPage(chain: Chain, query: ContractLogsQuery) {
  const { order, after, limit } = query;
  const contract = sql`${addressBytes(query.contract)}::bytea`;
  const subject = { kind: 'emitter', subject: contract, chainId: chain.id, dataset: logs.name } as const;
  const range = chainRange(chain, subject, query, LOG_ORDER);
  const ofContract = [
    sql`address_key = ${addressKey(query.contract)}::bigint`,
    expectedTrue(sql`address = ${contract}`),
    sql`chain_id = ${chain.id}`,
  ];
  const hasTopic = Boolean(query.topics[0]);
  // With a topic a later page starts at its block: else the planner would use the key.
  const bounds = range.scan.map((bound, index) =>
    hasTopic && after && index === 0 ? expectedTrue(bound) : bound,
  );
  const offset = after === null && query.offset > 0 ? sql` OFFSET ${query.offset}` : rawSql('');
  return chainPage({
    ...{
      chain,
      query,
      range,
      order: LOG_ORDER,
      rows: CONTRACT_LOGS,
      from: CONTRACT_LOGS.fitting('page'),
      related: {},
    },
    scan: sql`SELECT ${COLUMNS} FROM logs ${where([...ofContract, ...ofTopics(query.topics), ...bounds])}
    ${hasTopic ? LOG_ORDER.byBlock(order) : LOG_ORDER.by(order)} LIMIT ${limit + 1}${offset}`,
    newest: newestOfRun(query.order, [{ from: 'logs', of: ofContract }]),
  });
}

function ofTopics(topics: ContractLogsQuery['topics']): readonly Sql[] {
  return topics.flatMap((topic, position) => {
    if (!topic) return [];
    const value = sql`${hexBytes(topic)}::bytea`;
    const isEqual = sql`${rawSql(`topic${position}`)} = ${value}`;
    return position === 0
      ? [sql`"substring"(topic0, 1, 4) = "substring"(${value}, 1, 4)`, expectedTrue(isEqual)]
      : [isEqual];
  });
}
