import { type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { expect, test } from 'vitest';
import { FeedLog } from './feed-block.ts';
import { type Notifications, Subscription } from './log-criteria.ts';

const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const ADDRESS = parseAddress(`0x${'1'.repeat(40)}`);

function logOf(data: Hex): FeedLog {
  const log: Log = {
    address: ADDRESS,
    topics: [HASH],
    data,
    blockNumber: 5,
    blockHash: HASH,
    transactionHash: HASH,
    transactionIndex: 0,
    logIndex: 1,
    blockTimestamp: null,
  };
  return new FeedLog(log, 7);
}

/** The parts of the one message that reports the log to a subscription. */
function partsFor(id: string, log: FeedLog): readonly (string | Buffer)[] {
  const reported: Notifications[] = [];
  const subscription = new Subscription(
    id,
    (notifications) => reported.push(notifications),
    () => undefined,
  );
  subscription.activate();
  subscription.notify([log.text], { bytes: 1 });
  return reported[0]?.next() ?? [];
}

test('all clients get the bytes of a large log, which is written once', () => {
  const data: Hex = `0x${'01'.repeat(100_000)}`;
  const log = logOf(data);
  const [one, other] = [partsFor('0xa', log), partsFor('0xb', log)];
  expect(one[1]).toBeInstanceOf(Buffer);
  expect(other[1]).toBe(one[1]);
  expect(JSON.parse(other.join(''))).toMatchObject({
    params: { subscription: '0xb', result: { data, blockTimestamp: '0x7', removed: false } },
  });
});

test('a small log is one text', () => {
  const parts = partsFor('0xa', logOf('0x01'));
  expect(parts).toHaveLength(1);
  expect(JSON.parse(parts.join(''))).toMatchObject({ params: { subscription: '0xa', result: { data: '0x01' } } });
});
