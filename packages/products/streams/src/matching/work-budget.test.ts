import type { Address } from '@chainstead/core';
import { describe, expect, test } from 'vitest';
import type { Stream } from '../stream.ts';
import { sightAddresses } from './block-sightings.ts';
import { compileStream } from './compile-stream.ts';
import { inSlices } from './match.ts';
import { matchBlock } from './match-block.ts';
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
import { whole } from './testing/match-whole.ts';
import { admitStreams, BLOCK_BUDGET, type WorkBudget } from './work-budget.ts';

const [SENDER, RECEIVER, TOKEN] = [exampleAddress(1), exampleAddress(2), exampleAddress(3)];

function transfersOf(transfers: number) {
  const log = exampleLog(TOKEN, ERC20_TRANSFER, { from: SENDER, to: RECEIVER, value: 5n });
  return [{ from: SENDER, to: RECEIVER, logs: Array.from({ length: transfers }, () => log) }];
}

const blockOf = (transfers: number) => exampleBlock(transfersOf(transfers));

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
  const sightings = sightAddresses(block);
  const admitted = whole(admitStreams(sightings, watched, index, new Map(), budget));
  const matched = whole(matchBlock(sightings, admitted.watched, admitted.index, { isSpam: () => false }, budget));
  return {
    admitted: [...admitted.index.byId.keys()],
    deferred: admitted.deferred.map(({ id }) => id),
    matched: matched.matches.map(({ streamId }) => streamId),
    deferredLater: Array.from(matched.deferred, ({ id }) => id),
  };
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

  test('defers the stream of a key with the most items, if they exceed its budget', () => {
    const filter = { eq: ['value', '6'] };
    const streams = [
      transferStream('all', 'heavy'),
      transferStream('none', 'heavy', { advancedOptions: [{ topic0: TRANSFER_SIGNATURE, filter }] }),
      transferStream('transaction', 'heavy', { topic0: null, allAddresses: false, includeNativeTxs: true }),
      transferStream('other', 'other'),
    ];
    const watched = new Map([[TOKEN, ['transaction']]]);
    const budgetOf = (items: number) => ({ perKey: 30 * items, perBlock: 60 * items });
    const block = exampleBlock([{ from: SENDER, to: TOKEN, logs: [] }, ...transfersOf(50)]);
    expect(admit(block, streams, budgetOf(160), watched)).toMatchObject({
      matched: ['all', 'other', 'transaction'],
      deferredLater: [],
    });
    expect(admit(block, streams, budgetOf(80), watched)).toMatchObject({
      matched: ['all', 'other'],
      deferredLater: ['transaction'],
    });
    expect(admit(block, streams, budgetOf(40), watched)).toMatchObject({
      matched: [],
      deferredLater: ['transaction', 'all', 'other'],
    });
    const alone = streams.slice(0, 1);
    expect(admit(block, alone, { ...budgetOf(1), admitsOne: true })).toMatchObject({ matched: ['all'] });
  });

  test('counts the logs of whole transactions, and each watched address of a log', () => {
    const config = { topic0: null, allAddresses: false, includeNativeTxs: true, includeAllTxLogs: true };
    const block = blockOf(50);
    const watching = [transferStream('a', 'key', config)];
    const watched = new Map([SENDER, RECEIVER, TOKEN].map((address) => [address, ['a']]));
    expect(admit(block, watching, { perKey: 30 * 150, perBlock: 30 * 300 }, watched).deferredLater).toEqual([
      'a',
    ]);
    expect(admit(block, watching, { perKey: 30 * 250, perBlock: 30 * 300 }, watched).matched).toEqual(['a']);
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
    const perKey = BLOCK_BUDGET.perKey / 200;
    expect(admit(block, streams, { perKey, perBlock: perKey }).deferred).toEqual([]);
  });

  test('is done in slices, with the same matches', async () => {
    const block = blockOf(400);
    const streams = Array.from({ length: 8 }, (_, number) =>
      transferStream(`${number}`, 'key', { advancedOptions: longFilter(200) }),
    );
    const matching = () =>
      matchBlock(sightAddresses(block), new Map(), indexStreams(streams, EXAMPLE_CHAIN_ID), {
        isSpam: () => false,
      });
    const pauses = [...matching()].length;
    expect(pauses).toBeGreaterThan(2);
    expect((await inSlices(matching())).matches).toEqual([]);
  });
});
