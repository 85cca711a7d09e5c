import { type Log, parseAddress, parseHash } from '@chainstead/core';
import { eachOf, hexOf, type RlpItem, readRlpList } from '../rlp/read-rlp.ts';
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
  const members = receiptMembers(encoded);
  return members === null || members.length < MEMBERS_MIN ? null : readLogList(members[LOGS_PLACE]);
}

/** EIP-2718. Null: no list. */
export function receiptMembers(encoded: Buffer): readonly RlpItem[] | null {
  const [first = 0] = encoded;
  return readRlpList(first < LIST_BASE ? encoded.subarray(1) : encoded);
}

export function readLogList(list: RlpItem | undefined): readonly ReadLog[] | null {
  return eachOf(list, ({ isList, encoded }) => {
    const members = isList ? readRlpList(encoded) : null;
    const [address, topics, data] = members ?? [];
    const log = {
      address: hexOf(address, ADDRESS_BYTES),
      topics: eachOf(topics, (topic) => hexOf(topic, TOPIC_BYTES)),
      data: hexOf(data),
    };
    if (members?.length !== LOG_MEMBERS || log.address === null || log.topics === null || log.data === null)
      return null;
    if (log.topics.length > TOPICS_MAX) return null;
    return { address: parseAddress(log.address), topics: log.topics.map(parseHash), data: log.data };
  });
}
