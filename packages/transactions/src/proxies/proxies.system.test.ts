import { type Address, type ChainId, type Hex, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { decodeCall } from '@chainstead/decoding';
import { openStateStage, type StateStage } from '@chainstead/state/testing';
import { readWatchedBlock } from '@chainstead/sync';
import { type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { encodeFunctionData, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAbiBooks } from '../abis/abi-books.ts';
import { callsOf } from '../abis/asked-entries.ts';
import { importAbis } from '../abis/import-abis.ts';
import type { AskedEntry } from '../abis/look-up-abis.ts';
import { implementationsReader, questionItem } from './contract-implementations.ts';
import { createProxiesWatcher } from './create-proxies-watcher.ts';
import { SLOTS } from './proxy-forms.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Logic { function nothing() external {} }
contract Pointer {
  event Upgraded(address indexed implementation);
  event BeaconUpgraded(address indexed beacon);
  constructor(bytes32 slot, address target) { assembly { sstore(slot, target) } }
  function point(bytes32 slot, address target, bool isBeacon) external {
    assembly { sstore(slot, target) }
    if (isBeacon) emit BeaconUpgraded(target); else emit Upgraded(target);
  }
  fallback() external {}
}
contract Beacon {
  event Upgraded(address indexed implementation);
  address public implementation;
  constructor(address first) { implementation = first; }
  function upgradeTo(address next) external { implementation = next; emit Upgraded(next); }
}
contract SafeProxy {
  address singleton;
  constructor(address first) { singleton = first; }
  function masterCopy() external view returns (address) { return singleton; }
  fallback() external {}
}
contract Diamond {
  struct FacetCut { address facet; uint8 action; bytes4[] selectors; }
  event DiamondCut(FacetCut[] cuts, address init, bytes data);
  mapping(bytes4 => address) public facetAddress;
  function cut(bytes4 selector, address facet) external {
    facetAddress[selector] = facet;
    emit DiamondCut(new FacetCut[](0), address(0), "");
  }
  fallback() external {}
}
`;

let stage: StateStage;
let contracts: ReadonlyMap<string, CompiledContract>;
/** Two contracts whose ABIs have the same function with other names. */
let first: Address;
let second: Address;

beforeAll(async () => {
  stage = await openStateStage();
  contracts = await compileSolidity({ 'Proxies.sol': SOURCE });
  [first, second] = [await deploy('Logic'), await deploy('Logic')];
  async function* abis() {
    for (const [address, name] of [
      [first, 'first'],
      [second, 'second'],
    ] as const)
      yield {
        address,
        chainId: 1 as ChainId,
        document: parseAbi([`function act(uint256 ${name}, string text)`] as readonly string[]),
      };
  }
  await importAbis({ database: stage.scratch.database, place: 'test', abis: abis() });
});
afterAll(() => stage.close());

async function deploy(name: string, args: readonly unknown[] = []): Promise<Address> {
  return stage.devnet.deploy(compiled(name), args);
}

function compiled(name: string): CompiledContract {
  const code = contracts.get(name);
  if (code === undefined) throw new Error(`${name} was not compiled`);
  return code;
}

const send = (name: string, address: Address, functionName: string, args: readonly unknown[]) =>
  stage.devnet.send({ address, abi: compiled(name).abi, functionName, args });

const ACT = encodeFunctionData({ abi: parseAbi(['function act(uint256 a, string b)']), args: [5n, 'text'] });
const SELECTOR = ACT.slice(0, 10) as Hex;

const headOf = async (): Promise<number> => Number(await stage.devnet.client.getBlockNumber({ cacheTime: 0 }));

/** The devnet's newest block with one more on top, indexed. */
async function nextBlock(): Promise<number> {
  await stage.devnet.mine(1);
  await stage.commit();
  return headOf();
}

async function read(...asked: readonly { readonly address: Address; readonly block: number }[]): Promise<void> {
  const { chain, pool, scratch } = stage;
  const context = { chain, pool, database: scratch.database, clock: systemClock, logger: silentLogger() };
  const items = asked.map(({ address, block }) => questionItem({ address, selector: SELECTOR, block }));
  await implementationsReader.read(context, { items }, AbortSignal.timeout(20_000));
}

/** The name of the first argument in the ABI that tells the call; `unknown` where it is to be read whose code the contract acts by. */
async function told(address: Address, block: number): Promise<string | null> {
  const unknown: AskedEntry[] = [];
  const books = createAbiBooks({ onUnknown: (_chain, entries) => void unknown.push(...entries) });
  const asked = callsOf([{ block: { number: block }, transaction: { to: address, input: ACT } }]);
  const decoded = decodeCall(ACT, (await books.forPage(stage.scratch.database, stage.chain, asked))(address, block));
  if (unknown.length > 0) return decoded === null ? 'unknown' : 'told and unknown';
  return decoded === null ? null : `${decoded.source} ${decoded.params[0]?.name}`;
}

/** What the follower does with blocks: from the first on, in one commit. */
async function follow(from: number): Promise<void> {
  const { chain, pool, scratch } = stage;
  const reader = { chain, pool, policy: 'record', logger: silentLogger() } as const;
  const needs = { transactions: false, internalTransfers: false };
  const numbers = Array.from({ length: (await headOf()) - from + 1 }, (_, place) => from + place);
  const blocks = await Promise.all(numbers.map((number) => readWatchedBlock(reader, number, needs)));
  await scratch.database.transaction((transaction) =>
    createProxiesWatcher().committed(
      transaction,
      chain,
      blocks.flatMap((block) => block ?? []),
    ),
  );
  await stage.commit();
}

const rollBack = (ancestor: number): Promise<void> =>
  stage.scratch.database.transaction((transaction) =>
    createProxiesWatcher().rolledBack(transaction, stage.chain, ancestor),
  );

const FORMS: readonly (readonly [string, () => Promise<Address>])[] = [
  ['EIP-1967', () => deploy('Pointer', [SLOTS['eip-1967'], first])],
  ['a beacon of EIP-1967', async () => deploy('Pointer', [SLOTS['eip-1967-beacon'], await deploy('Beacon', [first])])],
  ['EIP-1822', () => deploy('Pointer', [SLOTS['eip-1822'], first])],
  ['old OpenZeppelin', () => deploy('Pointer', [SLOTS.openzeppelin, first])],
  ['a Safe', () => deploy('SafeProxy', [first])],
  ['EIP-1167', () => withCode(`0x363d3d373d3d3d363d73${first.slice(2)}5af43d82803e903d91602b57fd5bf3`)],
  ['EIP-7702', () => withCode(`0xef0100${first.slice(2)}`)],
  [
    'a diamond',
    async () => {
      const diamond = await deploy('Diamond');
      await send('Diamond', diamond, 'cut', [SELECTOR, first]);
      return diamond;
    },
  ],
];

let made = 0;

async function withCode(bytecode: Hex): Promise<Address> {
  made += 1;
  const address = parseAddress(`0x${made.toString(16).padStart(40, 'c')}`);
  await stage.devnet.client.setCode({ address, bytecode });
  return address;
}

describe('what a contract points to', () => {
  test.each(FORMS)('is found of %s, from the block that was asked about on', async (_form, make) => {
    const address = await make();
    const called = await nextBlock();
    const newest = await nextBlock();
    expect(await told(address, called)).toBe('unknown');
    await read({ address, block: called });
    expect(await told(address, called)).toBe('implementation first');
    expect(await told(address, newest)).toBe('implementation first');
  });

  test('is nothing for others, which nobody asks about again', async () => {
    const address = await deploy('Pointer', [`0x${'00'.repeat(32)}`, first]);
    const nobody = parseAddress(`0x${'ee'.repeat(20)}`);
    const block = await nextBlock();
    await read({ address, block }, { address: nobody, block });
    expect(await told(address, block)).toBeNull();
    expect(await told(nobody, block)).toBeNull();
  });

  test('is not asked about as long as no ABI is imported, nor where the contract’s own knows the call', async () => {
    const block = await nextBlock();
    expect(await told(first, block)).toBe('contract first');
    const { database } = stage.scratch;
    await database.query('CREATE TABLE kept_entries AS TABLE contract_abi_entries');
    await database.query('TRUNCATE contract_abi_entries');
    expect(await told(second, block)).toBeNull();
    await database.query('INSERT INTO contract_abi_entries TABLE kept_entries');
    await database.query('DROP TABLE kept_entries');
  });

  test.each<[string, () => Promise<[Address, () => Promise<unknown>]>]>([
    [
      'a proxy',
      async () => {
        const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
        return [proxy, () => send('Pointer', proxy, 'point', [SLOTS['eip-1967'], second, false])];
      },
    ],
    [
      'a proxy’s beacon',
      async () => {
        const beacon = await deploy('Beacon', [first]);
        const proxy = await deploy('Pointer', [SLOTS['eip-1967-beacon'], beacon]);
        return [proxy, () => send('Beacon', beacon, 'upgradeTo', [second])];
      },
    ],
    [
      'a proxy, to another beacon',
      async () => {
        const [one, other] = [await deploy('Beacon', [first]), await deploy('Beacon', [second])];
        const proxy = await deploy('Pointer', [SLOTS['eip-1967-beacon'], one]);
        return [proxy, () => send('Pointer', proxy, 'point', [SLOTS['eip-1967-beacon'], other, true])];
      },
    ],
    [
      'a diamond',
      async () => {
        const diamond = await deploy('Diamond');
        await send('Diamond', diamond, 'cut', [SELECTOR, first]);
        return [diamond, () => send('Diamond', diamond, 'cut', [SELECTOR, second])];
      },
    ],
  ])('is read again once %s announces a change, and stays what it was before', async (_what, make) => {
    const [address, change] = await make();
    const before = await nextBlock();
    await read({ address, block: before });
    await change();
    const changed = await headOf();
    await follow(changed);
    const after = await nextBlock();
    expect(await told(address, before)).toBe('implementation first');
    expect(await told(address, changed)).toBe('unknown');
    await read({ address, block: after }, { address, block: changed });
    expect(await told(address, before)).toBe('implementation first');
    expect(await told(address, changed)).toBe('implementation second');
    expect(await told(address, after)).toBe('implementation second');
  });

  test('is told by the block: between two readings that differ nothing is claimed', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const before = await nextBlock();
    await send('Pointer', proxy, 'point', [SLOTS['eip-1967'], second, false]);
    const [changed, after] = [await headOf(), await nextBlock()];
    await read({ address: proxy, block: before });
    expect(await told(proxy, before)).toBe('implementation first');
    expect(await told(proxy, changed)).toBe('unknown');
    expect(await told(proxy, after)).toBe('implementation second');
  });

  test('of forms that announce nothing is known up to the block that was read', async () => {
    const proxy = await deploy('SafeProxy', [first]);
    const block = await nextBlock();
    await read({ address: proxy, block });
    const later = await nextBlock();
    expect([await told(proxy, block), await told(proxy, later)]).toEqual(['implementation first', 'unknown']);
  });

  test('where nodes have forgotten the state is unknown there, and not asked for again at once', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const [old, newest] = [await nextBlock(), await nextBlock()];
    const { hash } = await stage.devnet.client.getBlock({ blockNumber: BigInt(old) });
    stage.node.alter = ({ params }) =>
      JSON.stringify(params).includes(hash)
        ? { error: { code: -32000, message: 'missing trie node 1 (path ) state is not available' } }
        : undefined;
    try {
      await read({ address: proxy, block: old });
    } finally {
      stage.node.alter = () => undefined;
    }
    expect([await told(proxy, old), await told(proxy, newest)]).toEqual([null, 'implementation first']);
  });
});

describe('a reorganisation', () => {
  test('takes along what was read in its blocks, and opens what they closed', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const before = await nextBlock();
    await read({ address: proxy, block: before });
    await send('Pointer', proxy, 'point', [SLOTS['eip-1967'], second, false]);
    const changed = await headOf();
    await follow(changed);
    await read({ address: proxy, block: changed });
    expect(await told(proxy, changed)).toBe('implementation second');
    await rollBack(before);
    expect(await told(proxy, changed)).toBe('implementation first');
    await stage.devnet.reorg(1);
    await nextBlock();
    await read({ address: proxy, block: changed });
    expect(await told(proxy, changed)).toBe('implementation first');
  });
});
