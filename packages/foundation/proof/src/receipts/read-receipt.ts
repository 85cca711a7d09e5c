import { type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
import { LIST_BASE } from '../rlp/rlp.ts';

/** The trie lacks the index in the block. */
export type ReadLog = Pick<Log, 'address' | 'topics' | 'data'>;

/** Status or root, cumulative gas, bloom, logs; OP deposits append two. */
const MEMBERS_MIN = 4;
const LOGS_PLACE = 3;
const LOG_MEMBERS = 3;
const ADDRESS_BYTES = 20;
const TOPIC_BYTES = 32;
const TOPICS_MAX = 4;

export function readReceiptLogs(encoded: Buffer): readonly ReadLog[] | null {
  const [first] = encoded;
  const members = first === undefined ? null : readRlpList(first < LIST_BASE ? encoded.subarray(1) : encoded);
  const logs = members?.[LOGS_PLACE];
  return members === null || members.length < MEMBERS_MIN || logs === undefined ? null : readLogList(logs);
}

export function readLogList(list: RlpItem): readonly ReadLog[] | null {
  const items = list.isList ? readRlpList(list.encoded) : null;
  if (items === null) return null;
  const logs: ReadLog[] = [];
  for (const item of items) {
    const log = readLog(item);
    if (log === null) return null;
    logs.push(log);
  }
  return logs;
}

function readLog(item: RlpItem): ReadLog | null {
  const members = item.isList ? readRlpList(item.encoded) : null;
  const [address, topicList, data] = members ?? [];
  const topics = topicList?.isList === true ? readRlpList(topicList.encoded) : null;
  if (members?.length !== LOG_MEMBERS || topics === null || topics.length > TOPICS_MAX) return null;
  if (address?.isList !== false || address.payload.length !== ADDRESS_BYTES || data?.isList !== false)
    return null;
  if (topics.some(({ isList, payload }) => isList || payload.length !== TOPIC_BYTES)) return null;
  return {
    address: parseAddress(hexOf(address)),
    topics: topics.map((topic) => parseHash(hexOf(topic))),
    data: hexOf(data),
  };
}

function hexOf({ payload }: RlpItem): Hex {
  return `0x${payload.toString('hex')}`;
}
