/** Logs of random events, encoded by viem: what Postgres returns of their rows equals the values. */

import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress, parseHash } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { readAbi } from '@chainstead/events/decoding';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, keccak256, toBytes } from 'viem';
import { expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { eventItem, eventTable } from '../tables/event-table.ts';
import { logDecoder } from './decode-parameters.ts';
import { eventDataset } from './event-dataset.ts';
import {
  comparable,
  type EventParameter,
  encoded,
  type Given,
  isLong,
  manyParameters,
  randomParameters,
  textColumns,
} from './testing/random-parameters.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const EMITTER = parseAddress(`0x${'c0'.repeat(20)}`);
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const TIME = 1_700_000_000;

const withTopics = (given: typeof randomParameters) =>
  given.chain((all) =>
    fc
      .subarray([...all.keys()], { maxLength: Math.min(3, all.length) })
      .map((indexed) =>
        all.map((one, index) => ({ ...one, parameter: { ...one.parameter, indexed: indexed.includes(index) } })),
      ),
  );
const parameters = withTopics(randomParameters);

let contracts = 0;

test('rows are equal to the values of their logs', async () => {
  await fc.assert(
    fc.asyncProperty(parameters, fc.boolean(), async (given, anonymous) => {
      const abi = [
        { type: 'event', name: 'Moved', inputs: given.map(({ parameter }) => parameter), anonymous },
      ] as const;
      contracts += 1;
      const wanted = {
        ...{ name: `c${contracts}`, chain, addresses: [EMITTER], abi },
        ...{ factory: null, firstBlock: null, events: null, indexed: [] },
      };
      const [table] = (await addContract(scratch.database, wanted)).tables;
      if (table === undefined) throw new Error('No table was made');
      const dataset = eventDataset(
        table,
        new Map([[chain.id, { addresses: new Set([EMITTER]), firstBlock: null }]]),
      );
      expect([dataset.topics(chain).length, dataset.anyTopic?.(chain)]).toEqual([anonymous ? 0 : 1, anonymous]);
      const log = logOf(given, anonymous);
      const others = [
        { ...log, logIndex: 1, address: parseAddress(`0x${'dd'.repeat(20)}`) },
        // Data after the values, and one topic more: an anonymous event has neither.
        ...(anonymous ? [{ ...log, logIndex: 2, data: `${log.data}00` as const }] : []),
        ...(anonymous ? [{ ...log, logIndex: 3, topics: [HASH, ...log.topics] }] : []),
      ];
      const rows = dataset.decode([log, ...others], { chain, timestampOf: () => TIME });
      await createPartitions(scratch.database, table.name, chain.id);
      await scratch.database.transaction((transaction) =>
        transaction.copy(table.name, dataset.table.columns, rows.map(dataset.table.copyLine)),
      );
      const stored = await scratch.database.query<Record<string, unknown>>(
        sql`SELECT ${rawSql([...textColumns(table), 'undecoded', 'block_number'].join(', '))} FROM ${rawSql(table.name)}`,
      );
      const texts = Object.fromEntries(given.map((one, index) => [`v${index}`, shownText(one)]));
      expect(stored).toHaveLength(1);
      expect(comparable(table, stored[0])).toEqual({
        ...comparable(table, texts),
        undecoded: null,
        blockNumber: 7,
      });
    }),
    { numRuns: 50 },
  );
});

test('values of up to 256 parameters are those that viem encoded', () => {
  fc.assert(
    fc.property(withTopics(manyParameters), (given) => {
      const abi = [{ type: 'event', name: 'Moved', inputs: given.map(({ parameter }) => parameter) }];
      const [entry] = readAbi(abi)?.entries ?? [];
      if (entry?.kind !== 'event') throw new Error('No event was read');
      const table = eventTable('wide', 'moved', eventItem(entry.entry));
      expect(new Set(table.parameters.map(({ name }) => name)).size).toBe(given.length);
      const values = logDecoder(table)(logOf(given, false)) ?? [];
      const [decoded, wanted] = [values.map(String), given.map(shownText)].map((texts) =>
        comparable(
          table,
          Object.fromEntries(texts.map((text, index) => [`v${index}`, text.replaceAll('\0', '')])),
        ),
      );
      expect(decoded).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
});

test('text that is no UTF-8 keeps its bytes', async () => {
  const inputs = [{ name: 'note', type: 'string' }] as const;
  const names = { name: 'notes', chain, addresses: [EMITTER], abi: [{ type: 'event', name: 'Moved', inputs }] };
  const wanted = { ...names, factory: null, firstBlock: 8, events: null, indexed: [] };
  const [table] = (await addContract(scratch.database, wanted)).tables;
  if (table === undefined) throw new Error('No table was made');
  const dataset = eventDataset(table, new Map([[chain.id, { addresses: new Set([EMITTER]), firstBlock: 8 }]]));
  const rowsOf = (bytes: `0x${string}`, blockNumber = 8) => {
    const [topic0] = encodeEventTopics({ abi: [{ type: 'event', name: 'Moved', inputs }] });
    const data = encodeAbiParameters([{ type: 'bytes' }], [bytes]);
    const log: Log = { ...logOf([], false), blockNumber, topics: [parseHash(topic0)], data };
    return dataset
      .decode([log], { chain, timestampOf: () => TIME })
      .map(
        ({ values, undecoded }) => values ?? (undecoded?.includes(bytes.slice(2)) === true ? 'undecoded' : null),
      );
  };
  // U+FFFD is a character like others.
  expect([rowsOf('0xefbfbd'), rowsOf('0xfffe41'), rowsOf('0x41')]).toEqual([
    [['\ufffd']],
    ['undecoded'],
    [['A']],
  ]);
  // A followed block below the first one has no row.
  expect(rowsOf('0x41', 7)).toEqual([]);
});

function shownText({ parameter, value, text }: Given): string {
  return parameter.indexed === true && isLong(parameter) ? topicOf(parameter, value) : text;
}

function logOf(given: readonly Given[], isAnonymous: boolean): Log {
  const inputs = given.map(({ parameter }) => ({ ...parameter, name: '', indexed: false }));
  const [topic0] = encodeEventTopics({ abi: [{ type: 'event', name: 'Moved', inputs }] });
  const topics = given.flatMap(({ parameter, value }) =>
    parameter.indexed === true ? [topicOf(parameter, value)] : [],
  );
  return {
    address: EMITTER,
    topics: [...(isAnonymous ? [] : [topic0]), ...topics].map((topic) => parseHash(topic)),
    data: encoded(given.filter(({ parameter }) => parameter.indexed !== true)),
    ...{ blockTimestamp: null, blockNumber: 7, blockHash: HASH, transactionHash: HASH },
    ...{ transactionIndex: 0, logIndex: 0 },
  };
}

function topicOf(parameter: EventParameter, value: unknown): `0x${string}` {
  if (!isLong(parameter)) return encodeAbiParameters([{ type: parameter.type }], [value]);
  // What is hashed is of no interest here: the column holds the topic.
  return keccak256(toBytes(JSON.stringify([parameter.type, String(value)])));
}
