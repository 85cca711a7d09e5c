import { type ChainId, parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { AbiUnreadableError } from '@chainstead/events/decoding';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { parseAbi } from 'viem';
import { beforeEach, expect, test } from 'vitest';
import { type AbisReport, type GivenAbi, importAbis } from './import-abis.ts';

const scratch = scratchOfFile();
beforeEach(() => scratch.database.query(sql`TRUNCATE contract_abi_entries`).then(() => undefined));

const VAULT = `0x${'a1'.repeat(20)}`;
const TOKEN = `0x${'b2'.repeat(20)}`;
const ETH = 1 as ChainId;
const BASE = 8453 as ChainId;

const given = (document: unknown, address = VAULT, chainId = ETH): GivenAbi => ({
  address: parseAddress(address),
  chainId,
  document,
});

async function* listOf(abis: readonly GivenAbi[]) {
  yield* abis;
}

const imported = (...abis: readonly GivenAbi[]): Promise<AbisReport> =>
  importAbis({ database: scratch.database, place: './abis', abis: listOf(abis) });

const rows = async (): Promise<string[]> =>
  (
    await scratch.database.query<{ row: string }>(
      sql`SELECT concat_ws(' ', '0x' || encode(address, 'hex'), chain_id, encode(selector, 'hex'), entry->>'name') AS row FROM contract_abi_entries
       ORDER BY address, chain_id, place`,
    )
  ).map(({ row }) => row);

const deposit = parseAbi([
  'function deposit(uint256 amount)',
  'event Deposited(address indexed who, uint256 amount)',
]);
const withdraw = parseAbi(['function withdraw(uint256 amount)']);

test('functions and events are kept by their contract', async () => {
  expect(await imported(given(deposit), given({ abi: withdraw }, TOKEN, BASE))).toEqual({
    contracts: 2,
    rows: 3,
    skipped: [],
  });
  expect(await rows()).toEqual([
    `${VAULT} 1 b6b55f25 deposit`,
    `${VAULT} 1 2da466a7 Deposited`,
    `${TOKEN} 8453 2e1a7d4d withdraw`,
  ]);
});

test('the newest of a contract wins, on its chain', async () => {
  await imported(given(deposit), given(deposit, VAULT, BASE), given(deposit, TOKEN));
  await imported(given(deposit), given(withdraw));
  expect(await rows()).toEqual([
    `${VAULT} 1 2e1a7d4d withdraw`,
    ...['b6b55f25 deposit', '2da466a7 Deposited'].map((row) => `${VAULT} 8453 ${row}`),
    ...['b6b55f25 deposit', '2da466a7 Deposited'].map((row) => `${TOKEN} 1 ${row}`),
  ]);
});

test('what is no ABI, and what can’t be decoded by, is counted', async () => {
  const broken = [...deposit, { type: 'function', name: '<b>', inputs: [] }];
  expect((await imported(given(broken), given({}), given(parseAbi(['error E()']), TOKEN))).skipped).toEqual([
    { reason: 'a name that is no identifier', count: 1 },
    { reason: 'a file without an ABI', count: 1 },
    { reason: 'an ABI without functions and events', count: 1 },
  ]);
});

test('an import without any changes nothing', async () => {
  await imported(given(deposit));
  await expect(imported(given({ abi: 'x' }))).rejects.toThrow(AbiUnreadableError);
  await expect(imported()).rejects.toThrow('No ABI or signature could be imported from ./abis');
  expect(await rows()).toHaveLength(2);
});

test('thousands of contracts are one import, the last of each wins', async () => {
  const contracts = Array.from({ length: 3_000 }, (_, number) => `0x${number.toString(16).padStart(40, '0')}`);
  const names = Array.from({ length: 9 }, (_, number) => `function f${number}(uint256)`);
  const many = parseAbi(names);
  const report = await imported(
    ...contracts.map((address) => given(many, address)),
    ...contracts.slice(0, 5).map((address) => given(withdraw, address)),
  );
  expect(report).toEqual({ contracts: 3_000, rows: 3_000 * 9 - 5 * 8, skipped: [] });
  expect(await rows()).toHaveLength(report.rows);
});
