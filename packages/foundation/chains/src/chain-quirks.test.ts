import { describe, expect, it } from 'vitest';
import { createChainRegistry } from './chain-registry.ts';
import { environmentSuffix } from './environment-suffix.ts';

const registry = createChainRegistry();

describe('facts that a naive table gets wrong', () => {
  it('999 is HyperEVM, which viem shares with Wanchain and Zora testnets', () => {
    const chain = registry.get(999);
    expect(chain.name).toBe('HyperEVM');
    expect(chain.native.symbol).toBe('HYPE');
    expect(chain.rpcUrls.join()).toContain('hyperliquid');
    expect(chain.receiptsRoot).toBe('hyperliquid');
  });

  it('Saigon answers to 202601 and to its dead id 2021, which viem gives to Edgeware', () => {
    expect(registry.get(2021)).toBe(registry.get(202_601));
    expect(registry.get('0x7e5')).toBe(registry.get('0x31769'));
    expect(registry.get(2021)).toMatchObject({ id: 202_601, key: 'ronin-testnet', native: { symbol: 'RON' } });
  });

  it('no log range of Ronin may cross its migration', () => {
    expect(registry.get('ronin').rangeBarriers).toEqual([55_577_490]);
    expect(registry.get('ronin-testnet').rangeBarriers).toEqual([45_528_550]);
  });

  it('BSC makes a block every 450 ms, whatever viem says', () => {
    expect(registry.get('bsc').blockTimeMs).toBe(450);
    expect(registry.get('bsc-testnet').blockTimeMs).toBe(450);
  });

  it('PulseChain begins where it left Ethereum', () => {
    expect(registry.get('pulse').firstBlock).toBe(17_233_000);
  });

  it('blooms and roots that nodes make up are not trusted', () => {
    for (const key of ['sei', 'flow', 'fantom', 'zksync', 'cronos', 'zetachain', 'polygon-zkevm'])
      expect(registry.get(key), key).toMatchObject({
        bloom: 'untrusted',
        receiptsRoot: 'none',
        headerHash: false,
      });
  });

  it('header hashes are recomputed only where the header has Ethereum fields alone', () => {
    for (const key of ['eth', 'base', 'bsc', 'polygon', 'gnosis', 'linea', 'moonbeam', 'monad'])
      expect(registry.get(key).headerHash, key).toBe(true);
    for (const key of ['avalanche', 'fantom', 'flow', 'zksync', 'ronin', 'hyperevm'])
      expect(registry.get(key).headerHash, key).toBe(false);
  });

  it('a root that cannot be recomputed stops no Arbitrum, HyperEVM or unverified chain', () => {
    for (const key of ['arbitrum', 'hyperevm', 'palm']) expect(registry.get(key).proofPolicy, key).toBe('record');
    for (const key of ['eth', 'optimism', 'polygon', 'bsc'])
      expect(registry.get(key).proofPolicy, key).toBe('strict');
  });

  it('157 blocks may leave Polygon, none Avalanche, and the default is the larger of 64 and the confirmations', () => {
    expect(registry.get('polygon').reorgDepthMax).toBeGreaterThanOrEqual(157);
    expect(registry.get('avalanche').reorgDepthMax).toBe(16);
    expect(registry.get('eth').reorgDepthMax).toBe(64);
    expect(registry.get('optimism').reorgDepthMax).toBe(500);
  });

  it('the FTM token of Ethereum and abandoned bridges are not ether', () => {
    expect(registry.get('fantom').bridgedEther).toBeNull();
    expect(registry.get('moonbeam').bridgedEther).not.toMatch(/^0xfa9343c3/);
    expect(registry.get('gnosis').native).toMatchObject({ symbol: 'XDAI', isEther: false });
    for (const chain of registry.all())
      if (chain.native.isEther) expect(chain.bridgedEther, chain.key).toBeNull();
  });

  it('Transfer events that are no ERC-20 transfers are excluded', () => {
    expect(registry.get('eth').erc20Exclusions).toContain('0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb');
  });

  it('contracts that stand for the native token are no ERC-20 tokens', () => {
    const additional = [
      { key: 'celo', id: 42_220 },
      { key: 'metis', id: 1088 },
      { key: 'abstract', id: 2741 },
      { key: 'stable', id: 988 },
    ];
    const chains = createChainRegistry({ additional });
    const contracts: readonly (readonly [string, readonly string[]])[] = [
      ['0x0000000000000000000000000000000000001010', ['polygon', 'amoy']],
      ['0x0000000000000000000000000000000000000802', ['moonbeam', 'moonriver', 'moonbase']],
      ['0x000000000000000000000000000000000000800a', ['zksync', 'zksync-sepolia', 'abstract']],
      ['0x471ece3750da237f93b8e339c536989b8978a438', ['celo']],
      ['0xdeaddeaddeaddeaddeaddeaddeaddeaddead0000', ['metis', 'mantle', 'mantle-sepolia', 'optimism', 'base']],
      ['0x779ded0c9e1022225f8e0630b35a9b54be713736', ['stable']],
    ];
    for (const [address, keys] of contracts)
      for (const key of keys) expect(chains.get(key).erc20Exclusions, key).toEqual([address]);
    for (const chain of chains.all()) expect(chain.erc20Exclusions, chain.key).not.toContain(chain.wrappedNative);
    expect(chains.get('arbitrum').erc20Exclusions).toEqual([]);
  });

  it('zkSync and Lisk have multicall3 at addresses of their own', () => {
    expect(registry.get('zksync').multicall3).toEqual({
      address: '0xf9cda624fbc7e059355ce98a31693d299facd963',
      blockCreated: 3_908_235,
    });
    expect(registry.get('lisk').multicall3?.address).toBe('0xa9d71e1dd7ca26f26e656e66d6aa81ed7f745bf0');
  });

  it('chains whose finalized tag is unknown or missing are not asked for it', () => {
    for (const key of ['fantom', 'hyperevm', 'chiliz']) expect(registry.get(key).finalizedTag, key).toBe(false);
  });
});

describe('environmentSuffix', () => {
  it('is the key in capitals with underscores', () => {
    expect(environmentSuffix(registry.get('base sepolia'))).toBe('BASE_SEPOLIA');
    expect(environmentSuffix({ key: 'eth' })).toBe('ETH');
  });

  it('differs between all chains', () => {
    const suffixes = registry.all().map(environmentSuffix);
    expect(new Set(suffixes).size).toBe(suffixes.length);
  });
});
