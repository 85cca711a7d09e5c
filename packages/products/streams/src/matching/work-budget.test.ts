import type { Address } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import type { Stream } from '../stream.ts';
import { collectAddresses, sightAddresses } from './block-sightings.ts';
import { compileStream } from './compile-stream.ts';
import { inSlices, matchBlock } from './match-block.ts';
import { indexStreams } from './stream-index.ts';
import { exampleBlock, exampleLog } from './testing/example-block.ts';
import {
  ERC20_TRANSFER,
  EXAMPLE_CHAIN_ID,
  eventItem,
  exampleAddress,
  exampleStream,
  TRANSFER_SIGNATURE,
} from './testing/example-stream.ts';
import { admitStreams, BLOCK_BUDGET, type WorkBudget } from './work-budget.ts';

const [SENDER, RECEIVER, TOKEN] = [exampleAddress(1), exampleAddress(2), exampleAddress(3)];

function blockOf(transfers: number) {
  const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: SENDER, to: RECEIVER, value: 5n });
  return exampleBlock([{ from: SENDER, to: RECEIVER, logs: Array.from({ length: transfers }, () => log) }]);
}

function transferStream(id: string, createdBy: string, config: Partial<Stream> = {}) {
  const events = { topic0: [TRANSFER_SIGNATURE], abi: [ERC20_TRANSFER], allAddresses: true };
  return compileStream({ ...exampleStream({ ...events, includeContractLogs: true, id, ...config }), createdBy });
}

/** Comparisons of different parameters in turn are not one. */
function longFilter(comparisons: number): Stream['advancedOptions'] {
  const pairs = Array.from({ length: comparisons / 2 }, (_, number) => ({
    and: [{ eq: ['value', `${number}`] }, { eq: ['to', SENDER] }],
  }));
  return [{ topic0: TRANSFER_SIGNATURE, filter: { or: pairs } }];
}

function admit(
  block: ReturnType<typeof blockOf>,
  streams: readonly ReturnType<typeof transferStream>[],
  budget: WorkBudget,
  watched: ReadonlyMap<Address, readonly string[]> = new Map(),
) {
  const index = indexStreams(streams, EXAMPLE_CHAIN_ID);
  const admitted = admitStreams(sightAddresses(block), watched, index, new Map(), budget);
  return { admitted: [...admitted.index.byId.keys()], deferred: admitted.deferred.map(({ id }) => id) };
}

describe('the work of streams in a block', () => {
  test('defers the streams of a key that exceed its budget, with the least work first', () => {
    const streams = [
      transferStream('a', 'heavy', { advancedOptions: longFilter(200) }),
      transferStream('b', 'heavy'),
      transferStream('c', 'other'),
    ];
    const budget = { perKey: 1_000, perBlock: 10_000 };
    expect(admit(blockOf(10), streams, budget)).toMatchObject({ admitted: ['b', 'c'], deferred: ['a'] });
    expect(admit(blockOf(1), streams, budget)).toMatchObject({ admitted: ['a', 'b', 'c'], deferred: [] });
  });

  test('shares a block among keys, so that a key with little work never waits for others', () => {
    const heavy = Array.from({ length: 20 }, (_, number) =>
      transferStream(`heavy ${number + 10}`, `key ${number}`, { advancedOptions: longFilter(200) }),
    );
    const streams = [...heavy, transferStream('small', 'small')];
    const budget = { perKey: 4_000, perBlock: 10_000 };
    const { admitted, deferred } = admit(blockOf(10), streams, budget);
    expect(admitted).toContain('small');
    expect(admitted.length).toBe(5);
    expect(deferred.length).toBe(16);
  });

  test('counts watched addresses, transactions and logs of whole transactions', () => {
    const block = blockOf(50);
    const config = { topic0: null, allAddresses: false, includeNativeTxs: true, includeAllTxLogs: true };
    const watching = transferStream('a', 'key', config);
    const watched = new Map([[SENDER, ['a']]]);
    expect(collectAddresses(sightAddresses(block)).has(SENDER)).toBe(true);
    expect(admit(block, [watching], { perKey: 400, perBlock: 400 }, watched).deferred).toEqual(['a']);
    expect(admit(block, [watching], { perKey: 500, perBlock: 500 }, watched).deferred).toEqual([]);
    const alone = admit(block, [watching], { perKey: 1, perBlock: 1, admitsOne: true }, watched);
    expect(alone.deferred).toEqual([]);
  });

  test('is small for the documented size of filters over one parameter, however long its values are', () => {
    const note = eventItem('event Note(address indexed owner, string text)');
    const signature = 'Note(address,string)';
    const filter = { or: Array.from({ length: 999 }, (_, number) => ({ eq: ['text', `wanted ${number}`] })) };
    const streams = Array.from({ length: 100 }, (_, number) =>
      transferStream(`${number}`, 'key', {
        ...{ topic0: [signature], abi: [note], advancedOptions: [{ topic0: signature, filter }] },
      }),
    );
    const log = exampleLog(TOKEN, note, { owner: SENDER, text: 'éx'.repeat(300_000) });
    const block = exampleBlock([{ from: SENDER, to: RECEIVER, logs: [log, log, log, log, log] }]);
    const perKey = BLOCK_BUDGET.perKey / 500;
    expect(admit(block, streams, { perKey, perBlock: perKey }).deferred).toEqual([]);
  });

  test('is done in slices, with the same matches', async () => {
    const block = blockOf(400);
    const streams = Array.from({ length: 8 }, (_, number) =>
      transferStream(`${number}`, 'key', { advancedOptions: longFilter(200) }),
    );
    const matching = () =>
      matchBlock(sightAddresses(block), new Map(), indexStreams(streams, EXAMPLE_CHAIN_ID), { isSpam: () => false });
    const pauses = [...matching()].length;
    expect(pauses).toBeGreaterThan(2);
    expect(await inSlices(matching())).toEqual([]);
  });
});
