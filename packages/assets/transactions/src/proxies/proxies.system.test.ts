import { type Address, type Hex, parseAddress, silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { readWatchedBlock } from '@chainstead/sync/ingest';
import { beforeAll, describe, expect, test } from 'vitest';
import { createProxiesWatcher } from './create-proxies-watcher.ts';
import { SLOTS } from './proxy-forms.ts';
import { proxyStage, SELECTOR } from './testing/proxy-stage.ts';

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

const opened = proxyStage(SOURCE);
const { compiled, deploy, nextBlock, read } = opened;
/** Two contracts whose ABIs have the same function with other argument names. */
let first: Address;
let second: Address;

beforeAll(async () => {
  [first, second] = [await deploy('Logic'), await deploy('Logic')];
  await opened.importAbi(first, 'first');
  await opened.importAbi(second, 'second');
});

const send = (name: string, address: Address, functionName: string, args: readonly unknown[]) =>
  opened.stage.devnet.send({ address, abi: compiled(name).abi, functionName, args });

const headOf = async (): Promise<number> =>
  Number(await opened.stage.devnet.client.getBlockNumber({ cacheTime: 0 }));

/** The name of the first argument in the matching ABI; `unknown` if the implementation is still to be read. */
async function reported(address: Address, block: number): Promise<string | null> {
  const { by, isUnknown } = await opened.reported(address, block);
  if (isUnknown) return by === null ? 'unknown' : 'told and unknown';
  return by;
}

/** Runs the follower's block processing: from the first block on, in one commit. */
async function follow(from: number): Promise<void> {
  const { chain, pool, scratch } = opened.stage;
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
  await opened.stage.commit();
}

const rollBack = (ancestor: number): Promise<void> =>
  opened.stage.scratch.database.transaction((transaction) =>
    createProxiesWatcher().rolledBack(transaction, opened.stage.chain, ancestor),
  );

const FORMS: readonly (readonly [string, () => Promise<Address>])[] = [
  ['EIP-1967', () => deploy('Pointer', [SLOTS['eip-1967'], first])],
  [
    'a beacon of EIP-1967',
    async () => deploy('Pointer', [SLOTS['eip-1967-beacon'], await deploy('Beacon', [first])]),
  ],
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
  await opened.stage.devnet.client.setCode({ address, bytecode });
  return address;
}

describe('what a contract points to', () => {
  test.each(FORMS)('is found of %s, from the block that was asked about on', async (_form, make) => {
    const address = await make();
    const called = await nextBlock();
    const newest = await nextBlock();
    expect(await reported(address, called)).toBe('unknown');
    await read(called, address);
    expect(await reported(address, called)).toBe('implementation first');
    expect(await reported(address, newest)).toBe('implementation first');
  });

  test('is nothing for others, which nobody asks about again', async () => {
    const address = await deploy('Pointer', [`0x${'00'.repeat(32)}`, first]);
    const nobody = parseAddress(`0x${'ee'.repeat(20)}`);
    const block = await nextBlock();
    await read(block, address, nobody);
    expect(await reported(address, block)).toBeNull();
    expect(await reported(nobody, block)).toBeNull();
  });

  test('is not asked about as long as no ABI is imported, nor where the contract’s own knows the call', async () => {
    const block = await nextBlock();
    expect(await reported(first, block)).toBe('contract first');
    const { database } = opened.stage.scratch;
    await database.query(sql`CREATE TABLE kept_entries AS TABLE contract_abi_entries`);
    await database.query(sql`TRUNCATE contract_abi_entries`);
    expect(await reported(second, block)).toBeNull();
    await database.query(sql`INSERT INTO contract_abi_entries TABLE kept_entries`);
    await database.query(sql`DROP TABLE kept_entries`);
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
    await read(before, address);
    await change();
    const changed = await headOf();
    await follow(changed);
    const after = await nextBlock();
    expect(await reported(address, before)).toBe('implementation first');
    expect(await reported(address, changed)).toBe('unknown');
    await read(after, address);
    await read(changed, address);
    expect(await reported(address, before)).toBe('implementation first');
    expect(await reported(address, changed)).toBe('implementation second');
    expect(await reported(address, after)).toBe('implementation second');
  });

  test('is told by the block: between two readings that differ nothing is claimed', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const before = await nextBlock();
    await send('Pointer', proxy, 'point', [SLOTS['eip-1967'], second, false]);
    const [changed, after] = [await headOf(), await nextBlock()];
    await read(before, proxy);
    expect(await reported(proxy, before)).toBe('implementation first');
    expect(await reported(proxy, changed)).toBe('unknown');
    expect(await reported(proxy, after)).toBe('implementation second');
  });

  test('of forms that announce nothing is known up to the block that was read', async () => {
    const proxy = await deploy('SafeProxy', [first]);
    const block = await nextBlock();
    await read(block, proxy);
    const later = await nextBlock();
    expect([await reported(proxy, block), await reported(proxy, later)]).toEqual([
      'implementation first',
      'unknown',
    ]);
  });

  test('where nodes have forgotten the state is unknown there, and not asked for again at once', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const [old, newest] = [await nextBlock(), await nextBlock()];
    const { hash } = await opened.stage.devnet.client.getBlock({ blockNumber: BigInt(old) });
    opened.stage.node.alter = ({ params }) =>
      JSON.stringify(params).includes(hash)
        ? { error: { code: -32000, message: 'missing trie node 1 (path ) state is not available' } }
        : undefined;
    try {
      await read(old, proxy);
    } finally {
      opened.stage.node.alter = () => undefined;
    }
    expect([await reported(proxy, old), await reported(proxy, newest)]).toEqual([null, 'implementation first']);
  });
});

describe('a reorganisation', () => {
  test('takes along what was read in its blocks, and opens what they closed', async () => {
    const proxy = await deploy('Pointer', [SLOTS['eip-1967'], first]);
    const before = await nextBlock();
    await read(before, proxy);
    await send('Pointer', proxy, 'point', [SLOTS['eip-1967'], second, false]);
    const changed = await headOf();
    await follow(changed);
    await read(changed, proxy);
    expect(await reported(proxy, changed)).toBe('implementation second');
    await rollBack(before);
    expect(await reported(proxy, changed)).toBe('implementation first');
    await opened.stage.devnet.reorg(1);
    await nextBlock();
    await read(changed, proxy);
    expect(await reported(proxy, changed)).toBe('implementation first');
  });
});
