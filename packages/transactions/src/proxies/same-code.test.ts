/** An ABI that was imported for one contract tells of others with the same code, on a real node. */
import { type Address, type ChainId, type Hex, silentLogger, systemClock } from '@chainstead/core';
import { addressBytes } from '@chainstead/db';
import { decodeCall } from '@chainstead/decoding';
import { openStateStage, type StateStage } from '@chainstead/state/testing';
import { type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAbiBooks } from '../abis/abi-books.ts';
import { callsOf } from '../abis/asked-entries.ts';
import { importAbis } from '../abis/import-abis.ts';
import { implementationsReader, questionItem } from './contract-implementations.ts';
import { createProxiesWatcher } from './create-proxies-watcher.ts';
import { SLOTS } from './proxy-forms.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Twin { function act(uint256 a, string calldata b) external {} }
contract Other { uint256 public kept; function act(uint256 a, string calldata b) external { kept = a; } }
contract Pointer {
  constructor(bytes32 slot, address target) { assembly { sstore(slot, target) } }
  fallback() external {}
}
`;
const ACT = encodeFunctionData({ abi: parseAbi(['function act(uint256 a, string b)']), args: [5n, 'text'] });
const SELECTOR = ACT.slice(0, 10) as Hex;

let stage: StateStage;
let contracts: ReadonlyMap<string, CompiledContract>;
beforeAll(async () => {
  stage = await openStateStage();
  contracts = await compileSolidity({ 'Twins.sol': SOURCE });
});
afterAll(() => stage.close());
beforeEach(async () => {
  await stage.scratch.database.query('TRUNCATE contract_abi_entries, contract_codes, contract_implementations');
});

async function deploy(name: string, args: readonly unknown[] = []): Promise<Address> {
  const code = contracts.get(name);
  if (code === undefined) throw new Error(`${name} was not compiled`);
  return stage.devnet.deploy(code, args);
}

/** Imports an ABI in which the first argument has this name. */
async function importAbi(address: Address, name: string, chainId: number = stage.chain.id): Promise<void> {
  async function* one() {
    const document = parseAbi([`function act(uint256 ${name}, string text)`] as readonly string[]);
    yield { address, chainId: chainId as ChainId, document };
  }
  await importAbis({ database: stage.scratch.database, place: 'test', abis: one() });
}

async function nextBlock(): Promise<number> {
  await stage.devnet.mine(1);
  await stage.commit();
  return Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));
}

/** What a worker does once somebody has looked at calls of the contracts. */
async function read(block: number, ...addresses: readonly Address[]): Promise<void> {
  const { chain, pool, scratch } = stage;
  const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
  const items = addresses.map((address) => questionItem({ address, selector: SELECTOR, block }));
  await implementationsReader.read(context, { items }, AbortSignal.timeout(20_000));
}

/** Which ABI tells the call, and the name of the first argument in it. */
async function told(address: Address, block: number): Promise<string | null> {
  const asked = callsOf([{ block: { number: block }, transaction: { to: address, input: ACT } }]);
  const books = await createAbiBooks().forPage(stage.scratch.database, stage.chain, asked);
  const decoded = decodeCall(ACT, books(address, block));
  return decoded === null ? null : `${decoded.source} ${decoded.params[0]?.name}`;
}

describe('an ABI that was imported for another contract', () => {
  test('tells of those with the same code, and of no others, once a worker has read both', async () => {
    const [known, twin, other] = [await deploy('Twin'), await deploy('Twin'), await deploy('Other')];
    await importAbi(known, 'known');
    const block = await nextBlock();
    expect(await told(twin, block)).toBeNull();
    await read(block, twin, other);
    expect(await told(twin, block)).toBe('same-code known');
    expect(await told(other, block)).toBeNull();
    expect(await told(known, block)).toBe('contract known');
  });

  test('comes after its own, and after that of what a proxy points to', async () => {
    const [known, twin, target] = [await deploy('Twin'), await deploy('Twin'), await deploy('Other')];
    const proxies = [
      await deploy('Pointer', [SLOTS['eip-1967'], target]),
      await deploy('Pointer', [SLOTS.openzeppelin, known]),
    ];
    const [one, another] = proxies as [Address, Address];
    await importAbi(known, 'known');
    await importAbi(target, 'target');
    // People import for a proxy what it points to: that is no ABI of the proxies' code.
    await importAbi(one, 'pointer');
    const block = await nextBlock();
    await read(block, twin, another);
    expect(await told(another, block)).toBe('implementation known');
    await importAbi(twin, 'own');
    expect(await told(twin, block)).toBe('contract own');
    expect(await told(one, block)).toBe('contract pointer');
    const { database } = stage.scratch;
    const [row] = await database.query<{ code_hash: unknown }>(
      'SELECT code_hash FROM contract_codes WHERE address = $1',
      [addressBytes(one)],
    );
    expect(row).toEqual({ code_hash: null });
  });

  test('counts whichever chain that is on, of the same one first', async () => {
    const [known, twin] = [await deploy('Twin'), await deploy('Twin')];
    await importAbi(known, 'elsewhere', 10);
    const block = await nextBlock();
    const { database } = stage.scratch;
    await importAbi(await deploy('Other'), 'none');
    await read(block, twin);
    expect(await told(twin, block)).toBeNull();
    // A worker of the other chain has read it there.
    await database.query(
      `INSERT INTO contract_codes (address, chain_id, code_hash, block_number, has_abi)
       SELECT $1, 10, code_hash, 1, true FROM contract_codes WHERE address = $2`,
      [addressBytes(known), addressBytes(twin)],
    );
    expect(await told(twin, block)).toBe('same-code elsewhere');
    await importAbi(known, 'here');
    await read(await nextBlock(), twin);
    expect(await told(twin, block)).toBe('same-code here');
  });

  test('counts at once where the code of its contract was read before, and what was read goes with a reorganisation', async () => {
    const [late, twin] = [await deploy('Twin'), await deploy('Twin')];
    await importAbi(await deploy('Other'), 'none');
    const before = await nextBlock();
    const block = await nextBlock();
    await read(block, late, twin);
    expect(await told(twin, block)).toBeNull();
    await importAbi(late, 'late');
    expect(await told(twin, block)).toBe('same-code late');
    await stage.scratch.database.transaction((transaction) =>
      createProxiesWatcher().rolledBack(transaction, stage.chain, before),
    );
    expect(await told(twin, block)).toBeNull();
  });
});
