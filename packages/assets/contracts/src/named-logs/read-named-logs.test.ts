import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseAddress, parseHash } from '@chainstead/core';
import { coverBlocks } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { addContract } from '../definitions/add-contract.ts';
import { readDefinitions } from '../definitions/contract-definition.ts';
import { resumeContract, suspendLargeContracts } from '../definitions/suspend-contracts.ts';
import type { WantedContract } from '../definitions/wanted-contract.ts';
import { createDefinitionReader, readNamedLogs } from './read-named-logs.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const VAULT = parseAddress(`0x${'c0'.repeat(20)}`);
const HASH = parseHash(`0x${'ab'.repeat(32)}`);
const MOVED = parseHash(toEventSelector('Moved(address,uint256)'));

/** An event with the given parameters indexed. */
const moved = (...indexed: readonly string[]) => ({
  ...{ type: 'event', name: 'Moved' },
  inputs: [
    { name: 'by', type: 'address', indexed: indexed.includes('by') },
    { name: 'value', type: 'uint256', indexed: indexed.includes('value') },
  ],
});

const add = (abi: readonly object[], more: Partial<WantedContract> = {}) =>
  addContract(scratch.database, {
    ...{ name: 'vault', chain, addresses: [VAULT], factory: null, abi, firstBlock: 5, events: null, indexed: [] },
    ...more,
  });

function logOf(blockNumber: number, topicCount: number): Log {
  const topics = [MOVED, ...Array.from({ length: topicCount - 1 }, () => HASH)];
  return {
    ...{ address: VAULT, topics, data: '0x', blockNumber, blockHash: HASH, blockTimestamp: null },
    ...{ transactionHash: HASH, transactionIndex: 0, logIndex: 0 },
  };
}

async function read(log: Log, ...names: readonly string[]) {
  const definitions = await readDefinitions(scratch.database, 'vault');
  const request = { chain, names, logs: [log], from: log.blockNumber, completeTo: null };
  return (await readNamedLogs(scratch.database, definitions, request)).get(log);
}

test('logs of an upgraded event are described by the event with as many topics', async () => {
  await add([moved('by')]);
  await add([moved('by', 'value')]);
  const indexedOf = async (topicCount: number) =>
    (await read(logOf(5, topicCount), 'vault'))?.map(({ item }) =>
      item?.inputs.map(({ indexed }) => indexed === true),
    );
  expect(await indexedOf(2)).toEqual([[true, false]]);
  expect(await indexedOf(3)).toEqual([[true, true]]);
  // A log that fits neither is stored undecoded in the first table.
  expect(await indexedOf(1)).toEqual([[true, false]]);
  expect((await read(logOf(5, 3), 'vault.moved', 'vault.moved_2'))?.map(({ name }) => name)).toEqual([
    'vault.moved_2',
  ]);
  expect(await read(logOf(4, 2), 'vault')).toBeUndefined();
});

test('a suspended contract has no logs until it is resumed', async () => {
  // A table without rows has no bytes.
  await suspendLargeContracts(scratch.database, chain, -1);
  expect(await read(logOf(5, 2), 'vault')).toBeUndefined();
  await resumeContract(scratch.database, 'vault', chain.id);
  expect(await read(logOf(5, 2), 'vault')).toHaveLength(1);
});

test('definitions are parsed again after a change alone', async () => {
  const readAll = createDefinitionReader();
  const first = await readAll(scratch.database);
  expect(await readAll(scratch.database)).toBe(first);
  await add([{ type: 'event', name: 'Used', inputs: [] }]);
  const second = await readAll(scratch.database);
  expect(second[0]?.tables.map(({ event }) => event)).toEqual(['moved', 'moved_2', 'used']);
});

test('logs whose form depends on upgrades have no name until all upgrades before their blocks are known', async () => {
  const implementation = parseAddress(`0x${'a1'.repeat(20)}`);
  await add([moved('value')], { implementation });
  expect(await read(logOf(6, 2), 'vault')).toBeUndefined();
  const definitions = await readDefinitions(scratch.database, 'vault');
  const request = { chain, names: ['vault'], logs: [logOf(6, 2)], from: 6 };
  await expect(readNamedLogs(scratch.database, definitions, { ...request, completeTo: 6 })).rejects.toMatchObject(
    {
      code: 'CONTRACT_IMPLEMENTATIONS_UNKNOWN',
      message:
        'Blocks of contracts.vault_upgraded are missing on eth, so that the implementations of the contract are not known yet. Nothing: events whose form depends on the implementation are read once the upgrades are complete',
      retryable: true,
    },
  );
  await coverBlocks(scratch.database, chain.id, 'contracts.vault_upgraded', 5, 5, 'none');
  const named = await readNamedLogs(scratch.database, definitions, { ...request, completeTo: null });
  expect(
    [...named.values()].flat().map(({ item }) => item?.inputs.map(({ indexed }) => indexed === true)),
  ).toEqual([[true, false]]);
});
