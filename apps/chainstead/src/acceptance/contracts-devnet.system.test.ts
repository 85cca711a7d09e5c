/** Own contracts on a real node: every row of their tables equals a log that viem decodes, while the program runs and is changed by commands. */
import type { Address } from '@chainstead/core';
import type { CompiledContract } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { type AbiEvent, decodeEventLog, toEventSelector } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { openContractsStage } from './contracts-stage.ts';

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;
contract Vault {
  struct Position { address owner; uint128 amount; string note; }
  event Deposit(address indexed sender, address indexed owner, uint256 assets, int64 change);
  event Sent(address indexed from, uint8 indexed kind, bool flag);
  event Sent(address indexed from, uint256[] amounts);
  event Opened(Position position, bytes32 indexed id, string indexed name, bytes data);
  event Quiet() anonymous;
  function act(uint256 seed) external {
    emit Deposit(msg.sender, address(uint160(seed)), seed * 1e30, -int64(uint64(seed)));
    emit Sent(msg.sender, uint8(seed), seed % 2 == 0);
    uint256[] memory amounts = new uint256[](seed % 4);
    for (uint256 i; i < amounts.length; i++) amounts[i] = seed ** (i + 1);
    emit Sent(msg.sender, amounts);
    emit Opened(Position(msg.sender, uint128(seed), "note \\"one\\""), bytes32(seed), "name", abi.encode(seed));
    emit Quiet();
  }
}`;

const CHAIN_ID = 31_443;
const KEY = 'contracts-devnet';
const SETTLED_DEPTH = 80;
const stage = stageOfFile(() => openContractsStage(CHAIN_ID, SOURCE));
let vault: CompiledContract;

beforeAll(() => {
  vault = stage.contractOf('Vault');
});

const act = (address: Address, seed: number) => stage.send('Vault', address, 'act', BigInt(seed));

const add = (address: Address, ...more: readonly string[]) =>
  stage.runContracts('add', 'vault', '--chain', 'devnet', '--abi', stage.abiOf('Vault'), '--address', address, ...more);

/** Every log of the events, decoded by viem, as texts in chain order. */
async function decodedByNode(addresses: readonly Address[]): Promise<readonly string[]> {
  const logs = await stage.devnet.client.getLogs({ address: [...addresses], fromBlock: 0n });
  const events = vault.abi.filter((item): item is AbiEvent => item.type === 'event' && item.anonymous !== true);
  return logs.flatMap((log) => {
    const event = events.find((one) => toEventSelector(one) === log.topics[0]);
    if (event === undefined) return [];
    const { args } = decodeEventLog({ abi: [event], topics: log.topics, data: log.data });
    const values = event.inputs.map(({ name = '' }) => (args as Readonly<Record<string, unknown>>)[name]);
    return [
      JSON.stringify([
        Number(log.blockNumber),
        log.logIndex,
        log.address,
        log.transactionHash,
        toEventSelector(event),
        values.map(shown),
      ]),
    ];
  });
}

/** Every row of the tables, in the same form. */
async function stored(tables: readonly string[]): Promise<readonly string[]> {
  const events = vault.abi.filter((item): item is AbiEvent => item.type === 'event' && item.anonymous !== true);
  const rows: { readonly block: number; readonly log: number; readonly text: string }[] = [];
  for (const [index, table] of tables.entries()) {
    const event = events[index];
    if (event === undefined) throw new Error(`There is no event of ${table}`);
    const found = await stage.scratch.database.query<Record<string, unknown>>(
      `SELECT * FROM analytics.contract_${table}`,
    );
    for (const { block_number: block, log_index: log, contract, transaction_hash: hash, ...row } of found) {
      const { chain_id: _chain, transaction_index: _index, block_time: _time, ...values } = row;
      rows.push({
        ...{ block: Number(block), log: Number(log) },
        text: JSON.stringify([
          Number(block),
          log,
          contract,
          hash,
          toEventSelector(event),
          Object.values(values).map(shown),
        ]),
      });
    }
  }
  return rows.toSorted((one, other) => one.block - other.block || one.log - other.log).map(({ text }) => text);
}

/** Texts of leaves, in lower case: their form differs between viem and Postgres, and nothing else. */
function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([name, member]) => [name, shown(member)]);
  return String(value).toLowerCase();
}

const TABLES = ['vault_deposit', 'vault_opened', 'vault_sent', 'vault_sent_2'];
const expectEqual = (...addresses: readonly Address[]) =>
  vi.waitFor(async () => expect(await stored(TABLES)).toEqual(await decodedByNode(addresses)), { timeout: 60_000 });

test('are decoded from their first block on, through reorgs and changes, without a restart', async () => {
  const { devnet } = stage;
  const [first, second] = [await devnet.deploy(vault), await devnet.deploy(vault)];
  for (let seed = 1; seed <= 8; seed++) await act(seed % 2 === 0 ? first : second, seed);
  // Blocks that were followed without a contract are filled once they are settled.
  await devnet.mine(SETTLED_DEPTH);
  const program = stage.start(KEY);
  await program.url;
  const output = await add(first, '--index', 'owner');
  expect(output).toMatch(/contracts\.vault_sent_2 +Sent\(address,uint256\[\]\) +2/);
  expect(output).toContain('Skipped in the ABI: 1 × an anonymous event');
  await expectEqual(first);
  expect((await stored(TABLES)).length).toBe(16);

  await act(first, 9);
  await act(second, 10);
  await expectEqual(first);
  const calls = [11, 12].map((seed) => ({
    ...{ from: devnet.accounts[0], to: first, gas: '0x100000' },
    data: `0x${actData(seed)}`,
  }));
  await devnet.reorg(
    2,
    calls.map((call) => [call, 1] as const),
  );
  await devnet.mine(3);
  await expectEqual(first);
  expect((await stored(TABLES)).length).toBe(24);

  await add(second);
  await act(second, 13);
  await devnet.mine(SETTLED_DEPTH);
  await expectEqual(first, second);
  expect(JSON.parse(await stage.runContracts('status', '--json'))).toMatchObject(
    TABLES.map((table) => ({ table: `contracts.${table}`, chain: 'devnet', is_exact: true, undecoded: 0 })),
  );

  expect(await stage.runContracts('remove', 'vault', '--chain', 'devnet')).toContain(
    `Dropped tables: ${TABLES.map((table) => `contracts.${table}`).join(', ')}`,
  );
  const before = await devnet.client.getBlockNumber();
  await act(first, 14);
  await vi.waitFor(
    async () => {
      const [row] = await stage.scratch.database.query<{ checkpoint: number }>('SELECT checkpoint FROM sync_chains');
      expect(row?.checkpoint).toBeGreaterThan(Number(before));
    },
    { timeout: 60_000 },
  );
  expect((await program.stop()).code).toBe(0);
});

/** Selector and argument of `act`. */
function actData(seed: number): string {
  return `${ACT_SELECTOR}${seed.toString(16).padStart(64, '0')}`;
}

const ACT_SELECTOR = toEventSelector('act(uint256)').slice(2, 10);
