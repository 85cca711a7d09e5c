import { type Address, type Hex, parseHash } from '@chainstead/core';
import type { WatchedBlock } from '@chainstead/sync';
import { describe, expect, test } from 'vitest';
import { collectAddresses, sightAddresses } from './block-sightings.ts';
import { exampleBlock, exampleLog } from './testing/example-block.ts';
import { ERC20_TRANSFER, exampleAddress } from './testing/example-stream.ts';

const [ALICE, BOB, CAROL, DAVE, TOKEN] = [0xa1, 0xb0, 0xca, 0xda, 0xee].map(exampleAddress) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
const word = (digits: string) => digits.padStart(64, '0');
const wordOf = (address: Address) => word(address.slice(2));

const addressesOf = (block: WatchedBlock) => collectAddresses(sightAddresses(block));

describe('addresses that may match in a block', () => {
  test('are senders, receivers, emitters, indexed and plain parameters, and sides of internal transfers', () => {
    const block = exampleBlock([
      { from: ALICE, to: null, logs: [exampleLog(TOKEN, ERC20_TRANSFER, { from: BOB, to: CAROL, value: 5n })] },
      { from: ALICE, to: TOKEN, transfers: [{ from: TOKEN, to: DAVE, value: 1n }] },
    ]);
    const five = `0x${'5'.padStart(40, '0')}` as Address;
    expect(addressesOf(block)).toEqual(new Set([ALICE, TOKEN, BOB, CAROL, DAVE, five]));
  });

  test('of data are aligned whole words with twelve zero bytes above', () => {
    const unaligned = `${'00'.repeat(6)}${ALICE.slice(2)}`.padEnd(64, '0');
    const dirty = `${'00'.repeat(11)}01${BOB.slice(2)}`;
    const data = `0x${unaligned}${dirty}${wordOf(CAROL)}${wordOf(DAVE).slice(0, 63)}` as Hex;
    const block = exampleBlock([{ from: TOKEN, to: null, logs: [{ address: TOKEN, topics: [], data }] }]);
    expect(addressesOf(block)).toEqual(new Set([TOKEN, CAROL]));
  });

  test('topic 0 is no address', () => {
    const topics = [`0x${wordOf(ALICE)}`, `0x${wordOf(BOB)}`].map(parseHash);
    const block = exampleBlock([{ from: TOKEN, to: null, logs: [{ address: TOKEN, topics, data: '0x' }] }]);
    expect(addressesOf(block)).toEqual(new Set([TOKEN, BOB]));
  });

  test('come from receipts when only hashes of the transactions are known, in any letter case', () => {
    const block = exampleBlock([
      { from: ALICE, to: BOB, receipt: { from: ALICE.toUpperCase().replace('0X', '0x') } },
    ]);
    const hashesOnly = { ...block, block: { ...block.block, transactions: null } };
    expect(addressesOf(hashesOnly)).toEqual(new Set([ALICE, BOB]));
  });

  test('of several blocks go into one set', () => {
    const [one, other] = [ALICE, BOB].map((from) => sightAddresses(exampleBlock([{ from, to: null }])));
    if (one === undefined || other === undefined) throw new Error('No blocks');
    const found = collectAddresses(one);
    expect(collectAddresses(other, found)).toBe(found);
    expect(found).toEqual(new Set([ALICE, BOB]));
  });
});
