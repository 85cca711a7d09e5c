/** Logs of random events, encoded by viem: what Postgres returns of their rows equals the values. */
import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress, parseHash } from '@chainstead/core';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { type AbiParameter, encodeAbiParameters, encodeEventTopics, keccak256, toBytes, toHex } from 'viem';
import { expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { eventDataset } from './event-dataset.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const EMITTER = parseAddress(`0x${'c0'.repeat(20)}`);
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const TIME = 1_700_000_000;

type EventParameter = AbiParameter & { readonly indexed?: boolean };

/** A parameter, a value for viem, and the text that Postgres returns of it. */
interface Given {
  readonly parameter: EventParameter;
  readonly value: unknown;
  readonly text: string;
}

const isLong = ({ type }: EventParameter) =>
  type === 'string' || type === 'bytes' || type === 'tuple' || type.endsWith(']');
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((all) => toHex(all));

const word = fc.oneof(
  fc
    .constantFrom(8, 64, 256)
    .chain((bits) =>
      fc
        .bigInt(0n, 2n ** BigInt(bits) - 1n)
        .map((value) => ({ type: `uint${bits}`, value: bits < 64 ? Number(value) : value, text: String(value) })),
    ),
  fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n).map((value) => ({ type: 'int256', value, text: String(value) })),
  bytes(20).map((value) => ({ type: 'address', value, text: value })),
  bytes(32).map((value) => ({ type: 'bytes32', value, text: value })),
  bytes(3).map((value) => ({ type: 'bytes3', value, text: value })),
  fc.boolean().map((value) => ({ type: 'bool', value, text: String(value) })),
);
const dynamic = fc.oneof(
  fc.uint8Array({ maxLength: 70 }).map((all) => ({ type: 'bytes', value: toHex(all), text: toHex(all) })),
  fc.string({ unit: 'binary', maxLength: 40 }).map((given) => {
    const value = given.toWellFormed();
    return { type: 'string', value, text: value.replaceAll('\0', '') };
  }),
  fc
    .array(fc.bigInt(0n, 2n ** 128n), { maxLength: 4 })
    .map((value) => ({ type: 'uint256[]', value, text: JSON.stringify(value.map(String)) })),
  fc.array(fc.string({ unit: 'binary', maxLength: 5 }), { maxLength: 3 }).map((given) => {
    const value = given.map((one) => one.toWellFormed());
    return { type: 'string[]', value, text: JSON.stringify(value.map((one) => one.replaceAll('\0', ''))) };
  }),
);
const tuple = fc.tuple(bytes(20), fc.bigInt(0n, 2n ** 200n)).map(([owner, amount]) => ({
  parameter: {
    type: 'tuple',
    components: [
      { name: 'owner', type: 'address' },
      { name: '__proto__', type: 'uint256' },
    ],
  },
  value: [owner, amount],
  // Postgres orders the members of objects by length, then by name.
  text: `{"owner":${JSON.stringify(owner)},"__proto__":"${amount}"}`,
}));
const name = fc.constantFrom('', 'owner', 'amount', 'from', 'chain_id', 'blockNumber', '_value', '__proto__');
const plain = fc
  .tuple(name, fc.oneof(word, dynamic))
  .map(([given, { type, value, text }]): Given => ({ parameter: { name: given, type }, value, text }));
const structured = fc
  .tuple(name, tuple)
  .map(([given, { parameter, ...rest }]): Given => ({ parameter: { name: given, ...parameter }, ...rest }));
const parameters = fc
  .array(fc.oneof(plain, structured), { maxLength: 7 })
  .chain((all) =>
    fc
      .subarray([...all.keys()], { maxLength: Math.min(3, all.length) })
      .map((indexed) =>
        all.map((one, index) => ({ ...one, parameter: { ...one.parameter, indexed: indexed.includes(index) } })),
      ),
  );

let contracts = 0;

test('rows are equal to the values of their logs', async () => {
  await fc.assert(
    fc.asyncProperty(parameters, async (given) => {
      const abi = [{ type: 'event', name: 'Moved', inputs: given.map(({ parameter }) => parameter) }] as const;
      contracts += 1;
      const wanted = {
        name: `c${contracts}`,
        chain,
        addresses: [EMITTER],
        abi,
        factory: null,
        firstBlock: null,
        events: null,
        indexed: [],
      };
      const [table] = (await addContract(scratch.database, wanted)).tables;
      if (table === undefined) throw new Error('No table was made');
      const dataset = eventDataset(table, new Map([[chain.id, { addresses: new Set([EMITTER]), firstBlock: null }]]));
      const log = logOf(given);
      const rows = dataset.decode([log, { ...log, logIndex: 1, address: parseAddress(`0x${'dd'.repeat(20)}`) }], {
        chain,
        timestampOf: () => TIME,
      });
      await scratch.database.transaction((transaction) =>
        transaction.copy(table.name, dataset.table.columns, rows.map(dataset.table.copyLine)),
      );
      const texts = table.parameters.map(
        ({ name: column, type }, index) =>
          `${type === 'bytea' ? `analytics.hex(${column})` : `${column}::text`} AS v${index}`,
      );
      const stored = await scratch.database.query<Record<string, unknown>>(
        `SELECT ${[...texts, 'undecoded', 'block_number'].join(', ')} FROM ${table.name}`,
      );
      const wantedTexts = given.map((one, index) => [`v${index}`, shownText(one)]);
      expect(stored).toHaveLength(1);
      const [row] = stored;
      expect({
        ...row,
        ...jsonOf(
          table.parameters.map(({ type }) => type),
          row,
        ),
      }).toEqual({
        ...Object.fromEntries(wantedTexts),
        ...jsonOf(
          table.parameters.map(({ type }) => type),
          Object.fromEntries(wantedTexts),
        ),
        ...{ undecoded: null, block_number: 7 },
      });
    }),
    { numRuns: 60 },
  );
});

/** Spaces and the order of members are Postgres' own. */
function jsonOf(types: readonly string[], row: Record<string, unknown> | undefined): Record<string, unknown> {
  return Object.fromEntries(
    types.flatMap((type, index) => (type === 'jsonb' ? [[`v${index}`, JSON.parse(String(row?.[`v${index}`]))]] : [])),
  );
}

function shownText({ parameter, value, text }: Given): string {
  return parameter.indexed === true && isLong(parameter) ? topicOf(parameter, value) : text;
}

function logOf(given: readonly Given[]): Log {
  const abi = [
    { type: 'event', name: 'Moved', inputs: given.map(({ parameter }) => ({ ...parameter, name: '' })) },
  ] as const;
  const inData = given.filter(({ parameter }) => parameter.indexed !== true);
  const [topic0] = encodeEventTopics({
    abi: [{ ...abi[0], inputs: abi[0].inputs.map((input) => ({ ...input, indexed: false })) }],
  });
  const topics = given.flatMap(({ parameter, value }) =>
    parameter.indexed === true ? [topicOf(parameter, value)] : [],
  );
  return {
    address: EMITTER,
    topics: [topic0, ...topics].map((topic) => parseHash(topic)),
    data: encodeAbiParameters(
      inData.map(({ parameter }) => ({ ...parameter, name: '', ...unnamed(parameter) })),
      inData.map(({ value }) => value),
    ),
    ...{
      blockTimestamp: null,
      blockNumber: 7,
      blockHash: HASH,
      transactionHash: HASH,
      transactionIndex: 0,
      logIndex: 0,
    },
  };
}

/** viem takes tuples without names as lists. */
function unnamed(parameter: EventParameter): object {
  return 'components' in parameter
    ? { components: (parameter.components as readonly AbiParameter[]).map(({ type }) => ({ type })) }
    : {};
}

function topicOf(parameter: EventParameter, value: unknown): `0x${string}` {
  if (!isLong(parameter)) return encodeAbiParameters([{ type: parameter.type }], [value]);
  // What is hashed is of no interest here: the column holds the topic.
  return keccak256(toBytes(JSON.stringify([parameter.type, String(value)])));
}
