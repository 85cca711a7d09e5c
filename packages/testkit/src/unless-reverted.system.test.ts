import { createPublicClient, erc20Abi, http } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileDemoContracts } from './demo-contracts.ts';
import { type Devnet, startDevnet } from './devnet.ts';
import { unlessReverted } from './unless-reverted.ts';

describe('unlessReverted', () => {
  let devnet: Devnet;
  beforeAll(async () => {
    devnet = await startDevnet({ chainId: 4_444 });
  });
  afterAll(() => devnet?.stop());

  it('gives the answer, and null where the contract has none', async () => {
    const { DemoToken, DemoNft } = await compileDemoContracts();
    const decimalsOf = (address: `0x${string}`) =>
      unlessReverted(devnet.client.readContract({ address, abi: erc20Abi, functionName: 'decimals' }));
    expect(await decimalsOf(await devnet.deploy(DemoToken, ['Test Dollar', 'TUSD', 6]))).toBe(6);
    expect(await decimalsOf(await devnet.deploy(DemoNft))).toBeNull();
    expect(await decimalsOf(`0x${'9'.repeat(40)}`)).toBeNull();
  });

  it('throws what is no answer of the contract', async () => {
    const nowhere = createPublicClient({ transport: http('http://127.0.0.1:1', { retryCount: 0 }) });
    const call = nowhere.readContract({ address: `0x${'9'.repeat(40)}`, abi: erc20Abi, functionName: 'decimals' });
    await expect(unlessReverted(call)).rejects.toThrow('HTTP request failed');
  });
});
