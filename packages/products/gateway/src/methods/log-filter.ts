import { isObject } from '@chainstead/core';
import { address, block, type Check, hash, isAbsent, isBlockNumber, listOf, membersOf } from './values.ts';

const ADDRESSES_MAX = 1_000;
const TOPICS_MAX = 4;
const ALTERNATIVES_MAX = 1_000;

const oneAddress = address('address');
const addresses = listOf('address', oneAddress, ADDRESSES_MAX);
const topic = hash('topics: a topic');
const topicOrAny: Check = (value) => (value === null ? null : topic(value));
const alternatives = listOf('topics: alternatives', topicOrAny, ALTERNATIVES_MAX);
const topics = listOf(
  'topics',
  (value) => (Array.isArray(value) ? alternatives(value) : topicOrAny(value)),
  TOPICS_MAX,
);

const members = membersOf('filter', {
  fromBlock: block('fromBlock'),
  toBlock: block('toBlock'),
  blockHash: hash('blockHash'),
  address: (value) => (Array.isArray(value) ? addresses(value) : oneAddress(value)),
  topics,
});

export const logFilter: Check = (filter) => {
  const problem = members(filter);
  if (problem !== null || !isObject(filter)) return problem;
  const hasRange = !isAbsent(filter.fromBlock) || !isAbsent(filter.toBlock);
  return !isAbsent(filter.blockHash) && hasRange
    ? 'cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other'
    : null;
};

export type LogBound = number | string;

/** Null: the filter has a block hash. Absent bounds are `latest`. */
export function logRange(filter: unknown): { readonly from: LogBound; readonly to: LogBound } | null {
  if (!isObject(filter) || !isAbsent(filter.blockHash)) return null;
  return { from: boundOf(filter.fromBlock), to: boundOf(filter.toBlock) };
}

function boundOf(value: unknown): LogBound {
  if (isBlockNumber(value)) return Number(value);
  if (value === 'earliest') return 0;
  return typeof value === 'string' ? value : 'latest';
}
