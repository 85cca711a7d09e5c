import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processorMs } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type CompiledContract,
  compileDemoContracts,
  compileSolidity,
  DEMO_TOKEN_ABI,
  type DemoContractName,
} from './compile-solidity.ts';
import { type Devnet, startDevnet } from './devnet.ts';

let devnet: Devnet;
let contracts: Readonly<Record<DemoContractName, CompiledContract>>;

beforeAll(async () => {
  [devnet, contracts] = await Promise.all([startDevnet({ chainId: 4_242 }), compileDemoContracts()]);
});
afterAll(() => devnet.stop());

const account = (index: number): Devnet['accounts'][number] => {
  const found = devnet.accounts[index];
  if (found === undefined) throw new Error(`the devnet has no account ${index}`);
  return found;
};

describe('startDevnet', () => {
  it('says when a transaction fails', async () => {
    const token = await devnet.deploy(contracts.DemoToken, ['Poor', 'POOR', 18]);
    await expect(
      devnet.send({ address: token, abi: DEMO_TOKEN_ABI, functionName: 'transfer', args: [account(1), 1n] }),
    ).rejects.toThrow('transfer failed on the devnet');
  });

  it('mines and reorganises: ancestors stay, the rest is replaced', async () => {
    await devnet.mine(6);
    const head = await devnet.client.getBlockNumber();
    const hashAt = async (number: bigint): Promise<string> =>
      (await devnet.client.getBlock({ blockNumber: number })).hash;
    const before = [await hashAt(head - 3n), await hashAt(head - 2n), await hashAt(head)];
    await devnet.reorg(3);
    expect(await devnet.client.getBlockNumber({ cacheTime: 0 })).toBe(head);
    const after = [await hashAt(head - 3n), await hashAt(head - 2n), await hashAt(head)];
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  it('says why anvil did not start', async () => {
    await expect(startDevnet({ args: ['--no-such-option'] })).rejects.toThrow('--no-such-option');
  });

  it('ends with its parent, even when that is killed', async () => {
    const source = `import { startDevnet } from ${JSON.stringify(new URL('./devnet.ts', import.meta.url).href)};
      const devnet = await startDevnet();
      process.stdout.write(devnet.url, () => process.kill(process.pid, 'SIGKILL'));`;
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', source]);
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(/^http:/);
    await expect
      .poll(() =>
        fetch(stdout).then(
          () => 'up',
          () => 'gone',
        ),
      )
      .toBe('gone');
  });
});

describe('compileSolidity', () => {
  it('tells the compiler’s messages', async () => {
    await expect(compileSolidity({ 'Broken.sol': 'contract Broken { uint x = ; }' })).rejects.toThrow(
      'ParserError',
    );
  });

  it('takes from its cache what was compiled before', async () => {
    const source = {
      'Small.sol':
        '// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\ncontract Small { uint256 public one = 1; }',
    };
    const first = await compileSolidity(source);
    const before = process.cpuUsage();
    expect(await compileSolidity(source)).toEqual(first);
    expect(processorMs(before)).toBeLessThan(500);
    expect(first.get('Small')?.bytecode).toMatch(/^0x60/);
  });
});
