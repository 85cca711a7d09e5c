import type { Hex } from '@chainstead/core';
import { addressOf } from '@chainstead/testkit';
import { type AbiParameter, concatHex, encodeAbiParameters, numberToHex, parseAbiParameters, toHex } from 'viem';
import { describe, expect, test, vi } from 'vitest';
import { type AskGateway, followLookup, LOCAL_BATCH_GATEWAY } from './ens-names.ts';

const CONTRACT = addressOf(0xc0);
const LOOKUP = parseAbiParameters('address, string[], bytes, bytes4, bytes');
const QUERIES = parseAbiParameters(['Query[]', 'struct Query { address sender; string[] urls; bytes data; }']);
const CALLBACK = '0x12345678';

function lookup({ sender = CONTRACT, urls = ['https://gateway.example'], data = '0xda' as Hex } = {}): Hex {
  return concatHex(['0x556f1830', encodeAbiParameters(LOOKUP, [sender, urls, data, CALLBACK, '0xee'])]);
}

function batch(queries: readonly { sender: Hex; urls: string[]; data: Hex }[]): Hex {
  return concatHex(['0xa780bab6', encodeAbiParameters(QUERIES, [queries])]);
}

const decoded = (types: readonly AbiParameter[], values: readonly unknown[]): Hex =>
  encodeAbiParameters(types, values);
const answering = () => vi.fn<AskGateway>(async () => '0xab');

describe('an off-chain lookup', () => {
  test('is followed by the call that the contract asks for', async () => {
    const ask = answering();
    const call = await followLookup(lookup(), CONTRACT, ask);
    expect(ask.mock.calls).toEqual([[{ sender: CONTRACT, urls: ['https://gateway.example'], data: '0xda' }]]);
    expect(call).toBe(concatHex([CALLBACK, decoded(parseAbiParameters('bytes, bytes'), ['0xab', '0xee'])]));
  });

  test('in a batch is asked for each, and a failed one is told to the contract', async () => {
    const ask = answering();
    const bomb = { sender: CONTRACT, urls: [LOCAL_BATCH_GATEWAY], data: '0xdeadbeef' as Hex };
    const good = { sender: CONTRACT, urls: ['https://a.example'], data: '0x01' as Hex };
    const call = await followLookup(
      lookup({ urls: [LOCAL_BATCH_GATEWAY], data: batch([good, bomb]) }),
      CONTRACT,
      ask,
    );
    expect(ask).toHaveBeenCalledTimes(1);
    expect(call).toContain(toHex('No gateway gave an answer').slice(2));
  });

  test.each([
    ['another contract speaks', lookup({ sender: addressOf(0xbad) })],
    ['it is cut short', lookup().slice(0, 200) as Hex],
    ['4,000 URLs are one text', urlsThatAreOneText(4_000, 120_000)],
    ['two URLs share their bytes', urlsThatAreOneText(2, 64)],
    ['it is no batch', lookup({ urls: [LOCAL_BATCH_GATEWAY], data: '0x12345678' })],
    ['its batch is too large', lookup({ urls: [LOCAL_BATCH_GATEWAY], data: batch(manyQueries(9)) })],
    ['batches are in batches', lookup({ urls: [LOCAL_BATCH_GATEWAY], data: nested(5) })],
  ])('makes no request where %s', async (_what, reverted) => {
    const ask = answering();
    await followLookup(reverted, CONTRACT, ask);
    expect(ask).not.toHaveBeenCalled();
  });
});

/** `urls` as a list whose offsets all lead to the same text. */
function urlsThatAreOneText(count: number, length: number): Hex {
  const word = (value: number): Hex => numberToHex(value, { size: 32 });
  const text = toHex('http://192.0.2.1/'.padEnd(length, 'a'));
  const urls = concatHex([
    word(count),
    ...Array.from({ length: count }, () => word(32 * count)),
    word(length),
    text,
  ]);
  const size = (urls.length - 2) / 2;
  const tail = concatHex([word(4), `0xdeadbeef${'0'.repeat(56)}`, word(0)]);
  const heads = [word(0xa0), word(0xa0 + size), `${CALLBACK}${'0'.repeat(56)}` as Hex, word(0xa0 + size + 64)];
  return concatHex(['0x556f1830', `0x${'0'.repeat(24)}${CONTRACT.slice(2)}`, ...heads, urls, tail]);
}

function manyQueries(count: number) {
  return Array.from({ length: count }, () => ({
    sender: CONTRACT,
    urls: ['https://a.example'],
    data: '0x01' as Hex,
  }));
}

function nested(depth: number): Hex {
  const data = depth === 0 ? ('0x01' as const) : nested(depth - 1);
  return batch([{ sender: CONTRACT, urls: [depth === 0 ? 'https://a.example' : LOCAL_BATCH_GATEWAY], data }]);
}
