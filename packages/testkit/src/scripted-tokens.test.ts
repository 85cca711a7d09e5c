import { createPublicClient, http, parseAbi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedChain, serveScriptedChain } from './scripted-chain.ts';
import { MULTICALL3_ADDRESS, type ScriptedToken } from './scripted-tokens.ts';
import type { ChainNode } from './serve-chain.ts';

const chain = createScriptedChain({ seed: 1 });
const abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function supportsInterface(bytes4) view returns (bool)',
]);
const withTrait = (trait: string): ScriptedToken => {
  const token = chain.tokens.find((one) => one.trait === trait);
  if (token === undefined) throw new Error(`no token with trait ${trait}`);
  return token;
};

describe('scripted tokens', () => {
  let node: ChainNode;
  const client = () => createPublicClient({ transport: http(node.url, { retryCount: 0 }) });
  const read = (token: ScriptedToken, functionName: 'name' | 'symbol' | 'decimals') =>
    client().readContract({ address: token.address, abi, functionName });

  beforeAll(async () => {
    node = await serveScriptedChain(chain);
  });
  afterAll(() => node.close());

  it('answers the facts of honest tokens', async () => {
    for (const token of chain.tokens.filter((one) => one.facts !== null && one.kind === 'erc20')) {
      if (token.trait.startsWith('bytes32')) continue;
      expect({
        name: await read(token, 'name'),
        symbol: await read(token, 'symbol'),
        decimals: await read(token, 'decimals'),
      }).toEqual(token.facts);
    }
  });

  it('answers like hostile contracts do', async () => {
    expect(withTrait('bytes32 name and symbol').name).toEqual({ data: `0x4d616b6572${'00'.repeat(27)}` });
    expect(await read(withTrait('empty texts'), 'name')).toBe('');
    expect(await read(withTrait('huge text'), 'name')).toHaveLength(100_000);
    expect(await read(withTrait('NUL characters'), 'name')).toBe('Nul\u0000Token');
    await expect(read(withTrait('reverts'), 'name')).rejects.toThrow('reverted');
    await expect(read(withTrait('answers nothing'), 'name')).rejects.toThrow('returned no data');
    await expect(read(withTrait('offset beyond the data'), 'name')).rejects.toThrow();
    expect(await read(withTrait('bytes that are not UTF-8'), 'name')).toContain('\ufffd');
  });

  it('says through ERC-165 which contracts are NFTs', async () => {
    const supports = (token: ScriptedToken, id: `0x${string}`) =>
      client().readContract({ address: token.address, abi, functionName: 'supportsInterface', args: [id] });
    for (const token of chain.tokens.filter((one) => one.kind !== 'erc20')) {
      expect(await supports(token, '0x80ac58cd')).toBe(token.kind !== 'erc1155');
      expect(await supports(token, '0xd9b67a26')).toBe(token.kind === 'erc1155');
      expect(await supports(token, '0xffffffff')).toBe(false);
    }
    await expect(supports(withTrait('ordinary'), '0x80ac58cd')).rejects.toThrow('reverted');
  });

  it('answers many calls through Multicall3', async () => {
    const contracts = chain.tokens.map((token) => ({ address: token.address, abi, functionName: 'symbol' as const }));
    const results = await client().multicall({ contracts, multicallAddress: MULTICALL3_ADDRESS });
    expect(results.map((one) => one.status === 'success')).toEqual(
      chain.tokens.map((token) => !/bytes32|reverts|answers nothing|offset/.test(token.trait)),
    );
    expect(results[0]?.result).toBe('CUSD');
  });
});
