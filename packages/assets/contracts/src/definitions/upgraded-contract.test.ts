/** Events that an upgrade of the contract changed, and anonymous events: the rows that their tables have before and after. */

import { createChainRegistry } from '@chainstead/chains';
import { type Hex, type Log, parseAddress, parseHash } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { listCoverage } from '@chainstead/sync/requests';
import { coverBlocks, createPartitions } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { type AbiEvent, encodeAbiParameters, encodeEventTopics } from 'viem';
import { describe, expect, it } from 'vitest';
import { readContractDatasets } from '../dataset/contract-datasets.ts';
import { addContract } from './add-contract.ts';
import { readDefinitions, readRevision } from './contract-definition.ts';
import type { WantedContract } from './wanted-contract.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const PROXY = parseAddress(`0x${'c0'.repeat(20)}`);
const [FROM, TO] = ['0a', '0b'].map((byte) => parseAddress(`0x${byte.repeat(20)}`));
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const LAST = 30;

/** @param indexed names of indexed parameters */
const sent = (indexed: readonly string[], names = ['from', 'to', 'value'], anonymous = false) =>
  ({
    ...{ type: 'event', name: 'Sent', anonymous },
    inputs: names.map((name, place) => ({
      ...{ name, type: place === 2 ? 'uint256' : 'address', indexed: indexed.includes(name) },
    })),
  }) satisfies AbiEvent;

const [BY_SENDER, BY_BOTH, BY_RECIPIENT] = [sent(['from']), sent(['from', 'to']), sent(['to'])];

const add = (name: string, abi: readonly object[], more: Partial<WantedContract> = {}) =>
  addContract(scratch.database, {
    ...{ name, chain, addresses: [PROXY], abi, factory: null, firstBlock: 1, events: null, indexed: [] },
    ...more,
  });

/** Returns a log of the event, encoded by viem. */
function logOf(event: AbiEvent, block: number, logIndex: number, value = block * 100 + logIndex): Log {
  const args = [FROM, TO, BigInt(value)];
  const ofNames = Object.fromEntries(event.inputs.map(({ name = '' }, place) => [name, args[place]]));
  const [first, ...topics] = encodeEventTopics({ abi: [{ ...event, anonymous: false }], args: ofNames });
  return {
    ...{ address: PROXY, blockNumber: block, logIndex, transactionIndex: 0 },
    topics: [...(event.anonymous === true ? [] : [first]), ...topics].map((topic) => parseHash(topic)),
    data: encodeAbiParameters(
      event.inputs.filter(({ indexed }) => indexed !== true),
      args.filter((_, place) => event.inputs[place]?.indexed !== true),
    ),
    ...{ blockTimestamp: null, blockHash: HASH, transactionHash: HASH },
  };
}

/** Reads the blocks that datasets of the contract lack, as the sync engine does. */
async function index(name: string, logs: readonly Log[]): Promise<void> {
  const coverage = await listCoverage(scratch.database, chain.id);
  for (const { name: dataset, table, decode } of await readContractDatasets(scratch.database)) {
    if (!dataset.startsWith(`contracts.${name}_`)) continue;
    const covered = coverage.filter((one) => one.dataset === dataset).map(({ range }) => range);
    const isOpen = ({ blockNumber }: Log) =>
      covered.every(({ from, to }) => blockNumber < from || blockNumber > to) && blockNumber <= LAST;
    await createPartitions(scratch.database, table.name, chain.id);
    const rows = decode(logs.filter(isOpen), { chain, timestampOf: () => 1_700_000_000 });
    await scratch.database.transaction(async (transaction) => {
      await transaction.query(sql`CREATE TEMP TABLE read_again (LIKE ${rawSql(table.name)}) ON COMMIT DROP`);
      await transaction.copy('read_again', table.columns, rows.map(table.copyLine));
      await transaction.query(sql`INSERT INTO ${rawSql(table.name)} TABLE read_again ON CONFLICT DO NOTHING`);
      await transaction.query(sql`DELETE FROM sync_ranges WHERE dataset = ${dataset}`);
      await coverBlocks(transaction, chain.id, dataset, 1, LAST, 'none');
    });
  }
}

/** Returns blocks, logs and values of a table; null: undecoded. */
async function rowsOf(table: string): Promise<readonly string[]> {
  const rows = await scratch.database.query<{ row: string }>(
    sql`SELECT concat_ws(' ', block_number, log_index, coalesce(value::text, 'undecoded')) AS row
       FROM contracts.${rawSql(table)} ORDER BY block_number, log_index`,
  );
  return rows.map(({ row }) => row);
}

const tablesOf = async (name: string) => {
  const [definition] = await readDefinitions(scratch.database, name);
  return definition?.tables.map(({ event, since }) => [event, since]);
};

describe('an event with other indexed parameters', () => {
  it('is decoded by their number, before, within and after the block of an upgrade', async () => {
    const logs = [
      logOf(BY_SENDER, 9, 1),
      ...[logOf(BY_SENDER, 10, 1), logOf(BY_BOTH, 10, 3)],
      logOf(BY_BOTH, 11, 0),
      { ...logOf(BY_SENDER, 12, 0), data: '0x' as Hex },
    ];
    await add('counted', [BY_SENDER]);
    await index('counted', logs);
    // The ABI of the first implementation does not fit logs of the second one.
    expect(await rowsOf('counted_sent')).toEqual([
      '9 1 901',
      '10 1 1001',
      ...['10 3', '11 0', '12 0'].map((place) => `${place} undecoded`),
    ]);
    const { tables } = await add('counted', [BY_BOTH]);
    expect(tables.map(({ name }) => name)).toEqual(['contracts.counted_sent', 'contracts.counted_sent_2']);
    await index('counted', logs);
    expect(await rowsOf('counted_sent')).toEqual(['9 1 901', '10 1 1001', '12 0 undecoded']);
    expect(await rowsOf('counted_sent_2')).toEqual(['10 3 1003', '11 0 1100']);
    expect(await tablesOf('counted')).toEqual([
      ['sent', null],
      ['sent_2', null],
    ]);
  });

  it('is decoded from the log of the upgrade on, if their number is the same', async () => {
    const logs = [
      logOf(BY_SENDER, 9, 8),
      ...[logOf(BY_SENDER, 10, 1), logOf(BY_RECIPIENT, 10, 3)],
      ...[logOf(BY_RECIPIENT, 11, 0), logOf(BY_SENDER, 20, 1), logOf(BY_SENDER, 21, 0)],
    ];
    await add('placed', [BY_SENDER]);
    await index('placed', logs);
    const added = () => add('placed', [BY_RECIPIENT]);
    await expect(added()).rejects.toMatchObject({
      code: 'CONTRACT_EVENT_CHANGED',
      message:
        'placed has Sent(address,address,uint256) with other indexed parameters, and their number is the same. Give the implementation with --implementation, or the log of the upgrade with --upgrade <block>:<log index>, or use another name',
    });
    await add('placed', [BY_RECIPIENT], { upgrade: { block: 10, log: 2 } });
    await index('placed', logs);
    expect(await rowsOf('placed_sent')).toEqual(['9 8 908', '10 1 1001']);
    expect(await rowsOf('placed_sent_2')).toEqual(['10 3 1003', '11 0 1100', '20 1 2001', '21 0 2100']);
    await expect(
      add('placed', [BY_BOTH, sent(['value'])], { upgrade: { block: 10, log: 2 } }),
    ).rejects.toMatchObject({
      message:
        'placed has Sent(address,address,uint256) with other indexed parameters since log 2 of block 10. Give another log with --upgrade, or use another name',
    });
    // Known forms stay as they are.
    await add('placed', [BY_RECIPIENT]);
    expect(await tablesOf('placed')).toEqual([
      ['sent', null],
      ['sent_2', { block: 10, log: 2 }],
    ]);
  });

  it('is decoded by the implementation, if one is given, and the same ABI changes nothing', async () => {
    const [one, other] = [parseAddress(`0x${'a1'.repeat(20)}`), parseAddress(`0x${'a2'.repeat(20)}`)];
    await add('proxied', [BY_SENDER]);
    const added = () => add('proxied', [BY_RECIPIENT], { implementation: other });
    const { tables } = await added();
    expect(tables.map(({ event, since, implementations }) => [event, since, implementations])).toEqual([
      ['sent', null, []],
      ['sent_2', null, [other]],
      ['upgraded', null, [other]],
    ]);
    const [definition] = await readDefinitions(scratch.database, 'proxied');
    expect(definition?.upgrades).toEqual({ event: 'upgraded', column: 'implementation', firstBlock: 1 });
    const revision = await readRevision(scratch.database);
    await added();
    await add('proxied', [BY_SENDER]);
    expect(await readRevision(scratch.database)).toBe(revision);
    await add('proxied', [BY_SENDER], { implementation: one });
    expect((await readDefinitions(scratch.database, 'proxied'))[0]?.tables).toMatchObject([
      ...[{ implementations: [one] }, { implementations: [other] }, { implementations: [other, one] }],
    ]);
    await expect(add('proxied', [BY_SENDER], { implementation: other })).rejects.toMatchObject({
      code: 'CONTRACT_EVENT_CHANGED',
      message: `proxied has Sent(address,address,uint256) with other indexed parameters for the implementation ${other}. Give the ABI of the implementation, or use another name`,
    });
  });

  it('keeps its table and columns if names alone are other ones', async () => {
    await add('renamed', [BY_SENDER]);
    const { tables } = await add('renamed', [sent(['sender'], ['sender', 'recipient', 'amount'])]);
    expect(tables.map(({ name, parameters }) => [name, parameters.map((column) => column.name)])).toEqual([
      ['contracts.renamed_sent', ['from_', 'to_', 'value']],
    ]);
  });

  it('of one ABI gets a table for each form', async () => {
    const { tables } = await add('merged', [BY_SENDER, BY_BOTH]);
    expect(tables.map(({ event }) => event)).toEqual(['sent', 'sent_2']);
    await index('merged', [logOf(BY_SENDER, 1, 0), logOf(BY_BOTH, 1, 1)]);
    expect([await rowsOf('merged_sent'), await rowsOf('merged_sent_2')]).toEqual([['1 0 100'], ['1 1 101']]);
  });
});

describe('an anonymous event', () => {
  const QUIET = sent(['from', 'to'], ['from', 'to', 'value'], true);
  const WORDS = {
    ...{ type: 'event', name: 'Words', anonymous: true },
    inputs: [
      ...['a', 'b'].map((name) => ({ name, type: 'bytes32', indexed: true })),
      { name: 'value', type: 'uint256' },
      { name: 'more', type: 'uint256' },
    ],
  };
  const NAMED = {
    ...{ type: 'event', name: 'Named' },
    inputs: [
      { name: 'a', type: 'bytes32', indexed: true },
      { name: 'value', type: 'uint256' },
      { name: 'more', type: 'uint256' },
    ],
  } satisfies AbiEvent;
  const named: Log = {
    ...logOf(BY_SENDER, 3, 3),
    topics: [...encodeEventTopics({ abi: [NAMED], args: { a: HASH } })].map((topic) => parseHash(topic)),
    data: `0x${'00'.repeat(31)}07${'00'.repeat(32)}`,
  };

  it('is decoded by the number of topics and the length of data', async () => {
    const { tables } = await add('quiet', [QUIET, WORDS, BY_SENDER]);
    expect(tables.map(({ name }) => name)).toEqual([
      ...['contracts.quiet_sent', 'contracts.quiet_words', 'contracts.quiet_sent_2'],
    ]);
    await index('quiet', [
      ...[logOf(QUIET, 1, 0), logOf(BY_SENDER, 1, 1)],
      // Not the encoding of an address, and data after the value.
      { ...logOf(QUIET, 2, 0), topics: [HASH, HASH] },
      { ...logOf(QUIET, 2, 1), data: `0x${'00'.repeat(33)}` },
      { ...logOf(QUIET, 3, 0), topics: [HASH, HASH], data: `0x${'00'.repeat(31)}05${'00'.repeat(32)}` },
      { ...logOf(QUIET, 4, 0), address: parseAddress(`0x${'dd'.repeat(20)}`) },
      { ...logOf(QUIET, 5, 0), topics: [] },
    ]);
    expect(await rowsOf('quiet_sent')).toEqual(['1 0 100']);
    expect(await rowsOf('quiet_sent_2')).toEqual(['1 1 101']);
    expect(await rowsOf('quiet_words')).toEqual(['3 0 5']);
  });

  it('takes no log of an event of the ABI, chosen or not, known at first or later', async () => {
    await add('careful', [WORDS, NAMED], { events: ['Words'] });
    await index('careful', [named]);
    expect(await rowsOf('careful_words')).toEqual([]);
    await add('late', [WORDS]);
    await index('late', [named]);
    // Nothing distinguishes it from the anonymous one until now.
    expect(await rowsOf('late_words')).toEqual(['3 3 7']);
    await add('late', [NAMED]);
    await index('late', [named]);
    expect([await rowsOf('late_words'), await rowsOf('late_named')]).toEqual([[], ['3 3 7']]);
  });

  it('is refused if another one has logs of the same form', async () => {
    const other = { ...QUIET, name: 'Other' };
    const message = (one: string, two: string) =>
      `${one} and ${two} of vault are anonymous, and their logs have the same form. Choose one of them with --event. Logs of the other are then stored as its own`;
    await expect(add('vault', [QUIET, other])).rejects.toMatchObject({
      code: 'CONTRACT_EVENTS_AMBIGUOUS',
      message: message('Sent(address,address,uint256)', 'Other(address,address,uint256)'),
    });
    const dynamic = {
      ...QUIET,
      name: 'Long',
      inputs: [...QUIET.inputs.slice(0, 2), { name: 'data', type: 'bytes' }],
    };
    // Two words at least: as long as those of the other event.
    await expect(add('vault', [dynamic, WORDS])).rejects.toMatchObject({
      message: message('Long(address,address,bytes)', 'Words(bytes32,bytes32,uint256,uint256)'),
    });
    await add('vault', [dynamic, QUIET, sent(['from'], ['from', 'to', 'value'], true), NAMED]);
    await expect(add('vault', [other])).rejects.toMatchObject({
      message: message('Sent(address,address,uint256)', 'Other(address,address,uint256)'),
    });
  });
});
