/** An ABI that was imported for one contract applies to others with the same code, on a real node. */
import type { Address } from '@chainstead/core';
import { addressBytes, sql } from '@chainstead/db';
import { beforeEach, describe, expect, test } from 'vitest';
import { createProxiesWatcher } from './create-proxies-watcher.ts';
import { SLOTS } from './proxy-forms.ts';
import { proxyStage } from './testing/proxy-stage.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Twin { function act(uint256 a, string calldata b) external {} }
contract Other { uint256 public kept; function act(uint256 a, string calldata b) external { kept = a; } }
contract Pointer {
  constructor(bytes32 slot, address target) { assembly { sstore(slot, target) } }
  fallback() external {}
}
`;
const opened = proxyStage(SOURCE);
const { deploy, importAbi, nextBlock, read } = opened;
beforeEach(async () => {
  await opened.stage.scratch.database.query(
    sql`TRUNCATE contract_abi_entries, contract_codes, contract_implementations`,
  );
});

const reported = async (address: Address, block: number) => (await opened.reported(address, block)).by;

describe('an ABI that was imported for another contract', () => {
  test('tells of those with the same code, and of no others, once a worker has read both', async () => {
    const [known, twin, other] = [await deploy('Twin'), await deploy('Twin'), await deploy('Other')];
    await importAbi(known, 'known');
    const block = await nextBlock();
    expect(await reported(twin, block)).toBeNull();
    await read(block, twin, other);
    expect(await reported(twin, block)).toBe('same-code known');
    expect(await reported(other, block)).toBeNull();
    expect(await reported(known, block)).toBe('contract known');
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
    // Users import a proxy's implementation ABI for the proxy: it is not the ABI of the proxy's code.
    await importAbi(one, 'pointer');
    const block = await nextBlock();
    await read(block, twin, another);
    expect(await reported(another, block)).toBe('implementation known');
    await importAbi(twin, 'own');
    expect(await reported(twin, block)).toBe('contract own');
    expect(await reported(one, block)).toBe('contract pointer');
    const { database } = opened.stage.scratch;
    const [row] = await database.query<{ codeHash: unknown }>(
      sql`SELECT code_hash FROM contract_codes WHERE address = ${addressBytes(one)}`,
    );
    expect(row).toEqual({ codeHash: null });
  });

  test('counts whichever chain that is on, of the same one first', async () => {
    const [known, twin] = [await deploy('Twin'), await deploy('Twin')];
    await importAbi(known, 'elsewhere', 10);
    const block = await nextBlock();
    const { database } = opened.stage.scratch;
    await importAbi(await deploy('Other'), 'none');
    await read(block, twin);
    expect(await reported(twin, block)).toBeNull();
    // A worker of the other chain has read it there.
    await database.query(
      sql`INSERT INTO contract_codes (address, chain_id, code_hash, block_number, has_abi)
       SELECT ${addressBytes(known)}, 10, code_hash, 1, true FROM contract_codes WHERE address = ${addressBytes(twin)}`,
    );
    expect(await reported(twin, block)).toBe('same-code elsewhere');
    await importAbi(known, 'here');
    await read(await nextBlock(), twin);
    expect(await reported(twin, block)).toBe('same-code here');
  });

  test('counts at once where the code of its contract was read before, and what was read goes with a reorganisation', async () => {
    const [late, twin] = [await deploy('Twin'), await deploy('Twin')];
    await importAbi(await deploy('Other'), 'none');
    const before = await nextBlock();
    const block = await nextBlock();
    await read(block, late, twin);
    expect(await reported(twin, block)).toBeNull();
    await importAbi(late, 'late');
    expect(await reported(twin, block)).toBe('same-code late');
    await opened.stage.scratch.database.transaction((transaction) =>
      createProxiesWatcher().rolledBack(transaction, opened.stage.chain, before),
    );
    expect(await reported(twin, block)).toBeNull();
  });
});
