/** Own contracts on a real node: every row of their tables equals a log that viem decodes, while the program runs and is changed by commands. */

import type { Address, Hex } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import type { CompiledContract } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import {
  AbiDecodingDataSizeTooSmallError,
  type AbiEvent,
  decodeEventLog,
  decodeFunctionData,
  encodeFunctionData,
  toEventSelector,
  toFunctionSelector,
} from 'viem';
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
  event Loud(uint256 seed);
  event Quiet() anonymous;
  event Whisper(uint256 indexed seed, uint256 twice) anonymous;
  event Note(bytes4 indexed sig, address indexed guy, bytes32 indexed foo, bytes32 indexed bar, uint256 wad, bytes fax) anonymous;
  function act(uint256 seed) external {
    require(seed < 1000);
    emit Deposit(msg.sender, address(uint160(seed)), seed * 1e30, -int64(uint64(seed)));
    emit Sent(msg.sender, uint8(seed), seed % 2 == 0);
    uint256[] memory amounts = new uint256[](seed % 4);
    for (uint256 i; i < amounts.length; i++) amounts[i] = seed ** (i + 1);
    emit Sent(msg.sender, amounts);
    emit Opened(Position(msg.sender, uint128(seed), "note \\"one\\""), bytes32(seed), "name", abi.encode(seed));
    emit Loud(seed);
    emit Quiet();
    emit Whisper(seed, 2 * seed);
    emit Note(msg.sig, msg.sender, bytes32(seed), bytes32(seed + 1), seed, abi.encodePacked(seed, uint8(7)));
  }
  function pay(address to, Position[] calldata positions, string calldata note) external payable {}
  function total() external pure returns (uint256) { return 1; }
}
contract Proxy {
  event Upgraded(address indexed implementation);
  address implementation;
  constructor(address first) { upgrade(first); }
  function upgrade(address next) public { implementation = next; emit Upgraded(next); }
  fallback() external { (bool isDone,) = implementation.delegatecall(msg.data); require(isDone); }
}
contract First {
  event Moved(address indexed from, uint256 value, uint256 kind);
  event Swapped(address indexed from, uint256 amountIn, uint256 amountOut);
  function move(uint256 seed) external { emit Moved(msg.sender, seed, seed % 3); emit Swapped(msg.sender, seed, seed + 1); }
}
contract Second {
  event Moved(address indexed from, uint256 value, uint256 indexed kind);
  event Swapped(address from, uint256 indexed amountIn, uint256 amountOut);
  function move(uint256 seed) external { emit Moved(msg.sender, seed, seed % 3); emit Swapped(msg.sender, seed, seed + 1); }
}
contract Mover {
  function upgrade(Proxy proxy, address next, uint256 seed) external {
    First(address(proxy)).move(seed);
    proxy.upgrade(next);
    First(address(proxy)).move(seed + 1);
  }
}`;

const CHAIN_ID = 31_443;
const KEY = 'contracts-devnet';
const SETTLED_DEPTH = 80;
const WITH_TRANSACTIONS = { TRANSACTIONS_DEVNET: 'all' };
const stage = stageOfFile(() => openContractsStage(CHAIN_ID, SOURCE, WITH_TRANSACTIONS));
let vault: CompiledContract;

beforeAll(() => {
  vault = stage.contractOf('Vault');
});

const act = (address: Address, seed: number) => stage.send('Vault', address, 'act', BigInt(seed));

const add = (address: Address, ...more: readonly string[]) =>
  stage.runContracts(
    'add',
    'vault',
    '--chain',
    'devnet',
    '--abi',
    stage.abiOf('Vault'),
    '--address',
    address,
    ...more,
  );

/** Returns the event of a log: by its first topic, or by the number of topics. */
function eventOf({ topics }: { readonly topics: readonly string[] }): AbiEvent | undefined {
  const named = EVENTS().find((one) => one.anonymous !== true && toEventSelector(one) === topics[0]);
  return named ?? EVENTS().find((one) => one.name === ['Quiet', 'Whisper', '', '', 'Note'][topics.length]);
}

const EVENTS = (): readonly AbiEvent[] => vault.abi.filter((item) => item.type === 'event');

/** Every log of the events, decoded by viem, as texts in chain order. */
async function decodedByNode(addresses: readonly Address[]): Promise<readonly string[]> {
  const logs = await stage.devnet.client.getLogs({ address: [...addresses], fromBlock: 0n });
  return logs.flatMap((log) => {
    const event = eventOf(log);
    if (event === undefined) return [];
    const signature = toEventSelector(event);
    const topics: [Hex, ...Hex[]] = [signature, ...log.topics.slice(event.anonymous === true ? 0 : 1)];
    const { args } = decodeEventLog({ abi: [{ ...event, anonymous: false }], topics, data: log.data });
    const values = event.inputs.map(
      ({ name = '' }) => (args as Readonly<Record<string, unknown>> | undefined)?.[name],
    );
    const place = [Number(log.blockNumber), log.logIndex, log.address, log.transactionHash];
    return [JSON.stringify([...place, signature, values.map(shown)])];
  });
}

/** Every row of the tables, in the same form. */
async function stored(tables: readonly string[]): Promise<readonly string[]> {
  const events = EVENTS();
  const rows: { readonly block: number; readonly log: number; readonly text: string }[] = [];
  for (const [index, table] of tables.entries()) {
    const event = events[index];
    if (event === undefined) throw new Error(`There is no event of ${table}`);
    const found = await stage.scratch.database.query<Record<string, unknown>>(
      sql`SELECT * FROM analytics.contract_${rawSql(table)}`,
    );
    for (const { blockNumber: block, logIndex: log, contract, transactionHash: hash, ...row } of found) {
      const { chainId: _chain, transactionIndex: _index, blockTime: _time, ...values } = row;
      rows.push({
        ...{ block: Number(block), log: Number(log) },
        text: JSON.stringify([
          Number(block),
          log,
          contract,
          hash,
          toEventSelector(event),
          // Columns of bytes repeat those of their texts.
          Object.values(values)
            .filter((value) => !Buffer.isBuffer(value))
            .map(shown),
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

/** Every transaction to the contracts whose selector is known, decoded by viem, as texts in chain order. */
async function callsByNode(addresses: readonly Address[]): Promise<readonly string[]> {
  const { client } = stage.devnet;
  const head = Number(await client.getBlockNumber());
  const blocks = await Promise.all(
    Array.from({ length: head + 1 }, (_, number) =>
      client.getBlock({ blockNumber: BigInt(number), includeTransactions: true }),
    ),
  );
  const sent = blocks.flatMap(({ transactions }) =>
    transactions.filter(({ to }) => addresses.some((one) => one === to)),
  );
  const calls: string[] = [];
  for (const { hash, from, to, value, input, blockNumber, transactionIndex } of sent) {
    const item = vault.abi.find((one) => one.type === 'function' && input.startsWith(toFunctionSelector(one)));
    if (item === undefined) continue;
    const { status } = await client.getTransactionReceipt({ hash });
    const facts = [Number(blockNumber), transactionIndex, to, hash].map(shown);
    const { args } = decodable(input);
    const values = args === null ? null : [from, value, status === 'success', ...args].map(shown);
    calls.push(JSON.stringify([...facts, values]));
  }
  return calls;
}

/** @returns null if the data is too short */
function decodable(data: `0x${string}`): { readonly args: readonly unknown[] | null } {
  try {
    return { args: decodeFunctionData({ abi: vault.abi, data }).args ?? [] };
  } catch (error) {
    if (error instanceof AbiDecodingDataSizeTooSmallError) return { args: null };
    throw error;
  }
}

/** Every row of the tables of calls, in the same form. */
async function storedCalls(): Promise<readonly string[]> {
  const rows = await stage.scratch.database.query<{
    readonly place: unknown[];
    readonly params: unknown[] | null;
  }>(
    sql`WITH calls AS (
       SELECT block_number, transaction_index, contract, transaction_hash, undecoded, CASE WHEN undecoded IS NULL THEN
         jsonb_build_array(analytics.hex(sender), native_value::text, success::text, seed::text) END AS params FROM contracts.vault_act_call
       UNION ALL SELECT block_number, transaction_index, contract, transaction_hash, undecoded, CASE WHEN undecoded IS NULL THEN
         jsonb_build_array(analytics.hex(sender), native_value::text, success::text, analytics.hex(to_), positions, note) END FROM contracts.vault_pay_call)
     SELECT jsonb_build_array(block_number, transaction_index, analytics.hex(contract), analytics.hex(transaction_hash)) AS place, params
       FROM calls ORDER BY block_number, transaction_index`,
  );
  return rows.map(({ place, params }) => JSON.stringify([...place.map(shown), params?.map(shown) ?? null]));
}

const TABLES = ['deposit', 'loud', 'note', 'opened', 'quiet', 'sent', 'sent_2', 'whisper'].map(
  (name) => `vault_${name}`,
);
const CALLS = ['vault_act_call', 'vault_pay_call'];
const expectEqual = (...addresses: readonly Address[]) =>
  vi.waitFor(
    async () => {
      expect(await stored(TABLES)).toEqual(await decodedByNode(addresses));
      expect(await storedCalls()).toEqual(await callsByNode(addresses));
    },
    { timeout: 60_000, interval: 200 },
  );

/** Sends any data, also if the transaction fails. */
async function sendRaw(to: Address, data: `0x${string}`, value = 0n): Promise<void> {
  const [account] = stage.devnet.accounts;
  if (account === undefined) throw new Error('The devnet has no accounts');
  const { client } = stage.devnet;
  const hash = await client.sendTransaction({ account, to, data, value, gas: 1_000_000n, chain: null });
  await client.waitForTransactionReceipt({ hash });
}

/** Calls that fail, with data after their parameters, with too little data, and of functions that the ABI lacks. */
async function sendOddCalls(to: Address): Promise<void> {
  const [owner] = stage.devnet.accounts;
  const positions = [{ owner, amount: 5n, note: 'a "b"' }];
  const pay = encodeFunctionData({ abi: vault.abi, functionName: 'pay', args: [owner, positions, 'for you'] });
  await sendRaw(to, pay, 10n ** 18n);
  await sendRaw(to, `0x${actData(1_000)}`);
  await sendRaw(to, `0x${actData(3)}c0ffee`);
  await sendRaw(to, `0x${actData(3).slice(0, 40)}`);
  await sendRaw(to, '0xdeadbeef');
}

test('are decoded from their first block on, through reorgs and changes, without a restart', async () => {
  const { devnet } = stage;
  const [first, second] = [await devnet.deploy(vault), await devnet.deploy(vault)];
  for (let seed = 1; seed <= 8; seed++) await act(seed % 2 === 0 ? first : second, seed);
  await sendOddCalls(first);
  const program = stage.start(KEY, WITH_TRANSACTIONS);
  await program.url;
  const output = await add(first, '--index', 'owner', '--calls');
  expect(output).toMatch(/contracts\.vault_sent_2 +Sent\(address,uint256\[\]\) +2/);
  expect(output).toMatch(/contracts\.vault_act_call +act\(uint256\) +1/);
  expect(output).not.toContain('Skipped');
  await expectEqual(first);
  // Four calls, and one with more data than needed.
  expect((await stored(TABLES)).length).toBe(5 * TABLES.length);
  expect((await storedCalls()).length).toBe(4 + 4);

  await sendOddCalls(first);
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
  // The odd calls have one more; the reorg removed the call after them, and added two.
  expect((await stored(TABLES)).length).toBe((5 + 1 + 2) * TABLES.length);

  await add(second);
  await act(second, 13);
  await devnet.mine(SETTLED_DEPTH);
  await expectEqual(first, second);
  expect(JSON.parse(await stage.runContracts('status', '--json'))).toMatchObject(
    [...TABLES, ...CALLS].map((table) => ({
      ...{
        table: `contracts.${table}`,
        chain: 'devnet',
        is_exact: true,
        undecoded: table === 'vault_act_call' ? 2 : 0,
      },
    })),
  );

  expect(await stage.runContracts('remove', 'vault', '--chain', 'devnet')).toContain(
    `Dropped tables: ${[...TABLES, ...CALLS].map((table) => `contracts.${table}`).join(', ')}`,
  );
  const before = await devnet.client.getBlockNumber();
  await act(first, 14);
  await vi.waitFor(
    async () => {
      const [row] = await stage.scratch.database.query<{ checkpoint: number }>(
        sql`SELECT checkpoint FROM sync_chains`,
      );
      expect(row?.checkpoint).toBeGreaterThan(Number(before));
    },
    { timeout: 60_000 },
  );
  expect((await program.stop()).code).toBe(0);
});

const UPGRADED = toEventSelector('Upgraded(address)');

/** Rows of both forms of an event: block, log, emitter, form and values. */
async function storedForms(name: string, event: string, columns: string): Promise<readonly string[]> {
  const rows = await stage.scratch.database.query<{ row: string }>(
    rawSql(
      ['', '_2']
        .map(
          (form) =>
            `SELECT concat_ws(' ', block_number, log_index, contract, 'form${form}', ${columns}) AS row, block_number, log_index FROM analytics.contract_${name}_${event}${form}`,
        )
        .join(' UNION ALL ')
        .concat(' ORDER BY block_number, log_index'),
    ),
  );
  return rows.map(({ row }) => row);
}

/** The same by viem, with the ABI of the implementation that each proxy had at each log. */
async function formsByNode(
  proxies: readonly Address[],
  second: Address,
  event: string,
): Promise<readonly string[]> {
  const logs = await stage.devnet.client.getLogs({ address: [...proxies], fromBlock: 0n });
  const current = new Map<string, string>();
  return logs.flatMap(({ address, topics, data, blockNumber, logIndex }) => {
    if (topics[0] === UPGRADED) current.set(address, `0x${topics[1]?.slice(-40)}`);
    const isSecond = current.get(address) === second;
    const { abi } = stage.contractOf(isSecond ? 'Second' : 'First');
    const item = abi.find((one): one is AbiEvent => one.type === 'event' && one.name === event);
    if (item === undefined || toEventSelector(item) !== topics[0]) return [];
    const { args } = decodeEventLog({ abi: [item], topics, data });
    const values = item.inputs.map(
      ({ name = '' }) => (args as Readonly<Record<string, unknown>> | undefined)?.[name],
    );
    return [[blockNumber, logIndex, address, isSecond ? 'form_2' : 'form', ...values].map(shown).join(' ')];
  });
}

/** Two implementations, some proxies of the first one, and a contract that upgrades within a transaction. */
async function deployProxies(name: string, count: number) {
  const { devnet } = stage;
  const [first, second] = [
    await devnet.deploy(stage.contractOf('First')),
    await devnet.deploy(stage.contractOf('Second')),
  ];
  const proxies: Address[] = [];
  for (let made = 0; made < count; made++) proxies.push(await devnet.deploy(stage.contractOf('Proxy'), [first]));
  const mover = await devnet.deploy(stage.contractOf('Mover'));
  const move = (proxy: Address, seed: number) => stage.send('First', proxy, 'move', BigInt(seed));
  const upgrade = (proxy: Address, next: Address) => stage.send('Proxy', proxy, 'upgrade', next);
  /** Emits events before and after the upgrade. */
  const upgradeAndMove = (proxy: Address, seed: number) =>
    stage.send('Mover', mover, 'upgrade', proxy, second, BigInt(seed));
  const add = (abi: string, ...more: readonly string[]) =>
    stage.runContracts(
      ...['add', name, '--chain', 'devnet', '--abi', stage.abiOf(abi), '--address', proxies.join(','), ...more],
    );
  const storedMoves = () => storedForms(name, 'moved', 'from_, value, kind');
  /** Waits for equal rows. @param mined empty blocks before each look, so that earlier ones become final */
  const expectForms = (mined = 0) =>
    vi.waitFor(
      async () => {
        if (mined > 0) await devnet.mine(mined);
        expect(await storedMoves()).toEqual(await formsByNode(proxies, second, 'Moved'));
        expect(await storedForms(name, 'swapped', 'from_, amount_in, amount_out')).toEqual(
          await formsByNode(proxies, second, 'Swapped'),
        );
      },
      // Blocks are followed more slowly than they are mined.
      { timeout: 30_000, interval: mined > 0 ? 1_000 : 200 },
    );
  return { first, second, proxies, move, upgrade, upgradeAndMove, add, expectForms };
}

/** Form and value of each row. */
const formsOf = (rows: readonly string[]) =>
  rows.map((row) => row.replace(/^\d+ \d+ \S+ (\S+) \S+ (\d+).*$/, '$1 $2'));

test('of a proxy are decoded by the place of its upgrade', async () => {
  const { devnet } = stage;
  const { proxies, move, upgradeAndMove, add: addProxy, expectForms } = await deployProxies('proxy', 1);
  const [proxy] = proxies as [Address];
  const program = stage.start(KEY);
  await program.url;
  await addProxy('First');
  await move(proxy, 1);
  const { logs } = await upgradeAndMove(proxy, 2);
  await move(proxy, 4);
  await devnet.mine(SETTLED_DEPTH);
  const upgraded = logs.find(({ topics }) => topics[0] === UPGRADED);
  await addProxy('Second', '--upgrade', `${upgraded?.blockNumber}:${upgraded?.logIndex}`);
  await move(proxy, 5);
  await expectForms(20);
  expect(formsOf(await storedForms('proxy', 'moved', 'from_, value'))).toEqual([
    ...['form 1', 'form 2', 'form_2 3', 'form_2 4', 'form_2 5'],
  ]);
  const statuses: { undecoded: number }[] = JSON.parse(await stage.runContracts('status', '--json'));
  expect(statuses.map(({ undecoded }) => undecoded)).toEqual([0, 0, 0, 0]);
  expect(await stage.runContracts('remove', 'proxy', '--chain', 'devnet')).toContain('Dropped tables');
  expect((await program.stop()).code).toBe(0);
});

test('of proxies are decoded by the implementation that each of them names, through downgrades and reorgs', async () => {
  const { devnet } = stage;
  const deployed = await deployProxies('proxies', 2);
  const { first, second, proxies, move, upgrade, upgradeAndMove, add: addProxies, expectForms } = deployed;
  const [one, other] = proxies as [Address, Address];
  const program = stage.start(KEY);
  await program.url;
  await addProxies('First');
  await move(one, 1);
  await upgradeAndMove(one, 2);
  await move(one, 4);
  await move(other, 5);
  await devnet.mine(SETTLED_DEPTH);
  expect(await addProxies('Second', '--implementation', second)).toMatch(/contracts\.proxies_upgraded +Upgraded/);
  await expectForms(20);

  // The new implementation is followed, each proxy from its own upgrade on.
  await upgradeAndMove(other, 6);
  await move(one, 8);
  await expectForms();
  await addProxies('First', '--implementation', first);
  await upgrade(one, first);
  await move(one, 9);
  await upgrade(one, second);
  await move(one, 10);
  await expectForms(20);

  // A reorg removes a downgrade, and the events after it stay.
  await upgrade(other, first);
  await move(other, 11);
  await expectForms();
  const data = encodeFunctionData({ abi: stage.contractOf('First').abi, functionName: 'move', args: [12n] });
  await devnet.reorg(2, [[{ from: devnet.accounts[0], to: other, gas: '0x100000', data }, 1]]);
  await devnet.mine(2);
  await expectForms();
  expect(formsOf(await storedForms('proxies', 'moved', 'from_, value'))).toEqual([
    ...['form 1', 'form 2', 'form_2 3', 'form_2 4', 'form 5', 'form 6', 'form_2 7', 'form_2 8'],
    ...['form 9', 'form_2 10', 'form_2 12'],
  ]);
  const statuses: { undecoded: number }[] = JSON.parse(await stage.runContracts('status', '--json'));
  expect(statuses.map(({ undecoded }) => undecoded)).toEqual([0, 0, 0, 0, 0]);
  expect((await program.stop()).code).toBe(0);
});

/** Selector and argument of `act`. */
function actData(seed: number): string {
  return `${ACT_SELECTOR}${seed.toString(16).padStart(64, '0')}`;
}

const ACT_SELECTOR = toEventSelector('act(uint256)').slice(2, 10);
