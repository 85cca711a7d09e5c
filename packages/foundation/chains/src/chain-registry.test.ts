import { readFileSync } from 'node:fs';
import { recordedData } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChainCollisionError, createChainRegistry, UnknownChainError } from './chain-registry.ts';

interface ListedChain {
  readonly name: string;
  readonly id: string;
  readonly chainId: number;
  readonly api: readonly string[];
  readonly confirmations: number;
  readonly internalTxs: boolean;
  readonly gateway: string | null;
  readonly nftTrades: boolean;
  readonly nftPrices: boolean;
  readonly formerIds?: readonly string[];
}

const { folder: LIST, isMissing, title } = recordedData('contract/chains.json');
const listed: readonly ListedChain[] = isMissing ? [] : JSON.parse(readFileSync(LIST, 'utf8'));

describe('known chains', () => {
  const registry = createChainRegistry();

  describe.skipIf(isMissing)(title('of the list that the interface gives'), () => {
    it.each(listed)('$name is found by every name and id of the interface', (entry) => {
      const names = [
        ...entry.api,
        ...(entry.formerIds ?? []),
        entry.name,
        entry.id,
        entry.chainId,
        `${entry.chainId}`,
        entry.gateway ?? entry.id,
      ];
      for (const name of names) {
        const chain = registry.find(name);
        expect(chain, `${name}`).toMatchObject({
          id: entry.chainId,
          confirmations: entry.confirmations,
          internalTransactions: entry.internalTxs,
          gatewaySlug: entry.gateway,
          nftTrades: entry.nftTrades,
          nftPrices: entry.nftPrices,
        });
      }
    });
  });

  it('tolerates letter case, surrounding space, and hyphens for spaces', () => {
    for (const text of ['base sepolia', ' Base-Sepolia ', 'BASE_SEPOLIA', '0x14A34', '84532', 84532])
      expect(registry.find(text)?.key).toBe('base-sepolia');
  });

  it('answers null, or throws from get, for what it does not know', () => {
    for (const text of ['', ' ', '0x', 'eth2', '0x0', '0', '-1', '1.0', '1e0', 0, 5])
      expect(registry.find(text)).toBeNull();
    expect(() => registry.get('nowhere')).toThrow(UnknownChainError);
  });

  it('never throws from find, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => registry.find(text)).not.toThrow();
      }),
    );
  });

  it('finds each chain by its own key, and keys fit into environment keys', () => {
    for (const chain of registry.all()) {
      expect(registry.get(chain.key)).toBe(chain);
      expect(chain.key).toMatch(/^[a-z][a-z0-9-]*$/);
    }
  });

  it('proves strictly only where receipts can be recomputed', () => {
    for (const chain of registry.all()) {
      if (chain.proofPolicy === 'strict') expect(chain.receiptsRoot, chain.key).toBe('ethereum');
      if (chain.receiptsRoot === 'none') expect(chain.bloom, chain.key).toBe('untrusted');
    }
  });
});

describe('configured chains', () => {
  it('adds an unknown chain with cautious defaults', () => {
    const registry = createChainRegistry({ additional: [{ key: 'My_Devnet', id: 31337 }] });
    expect(registry.get(31337)).toMatchObject({
      key: 'my-devnet',
      confirmations: 12,
      reorgDepthMax: 64,
      receiptsRoot: 'ethereum',
      headerHash: false,
      proofPolicy: 'record',
      rpcUrls: [],
      native: { symbol: 'ETH', isEther: true },
    });
    expect(registry.get('my devnet')).toBe(registry.get('0x7a69'));
    expect(registry.all()).toHaveLength(createChainRegistry().all().length + 1);
  });

  it('takes what is configured', () => {
    const additional = [
      {
        key: 'appchain',
        id: 777_777,
        confirmations: 200,
        pollIntervalMs: 250,
        nativeSymbol: 'APP',
        headerHash: true,
      },
    ];
    expect(createChainRegistry({ additional }).get('appchain')).toMatchObject({
      confirmations: 200,
      reorgDepthMax: 200,
      pollIntervalMs: 250,
      native: { symbol: 'APP', isEther: false },
      headerHash: true,
    });
  });

  it('changes a known chain and keeps the rest of its facts', () => {
    const plain = createChainRegistry().get('polygon');
    const changed = createChainRegistry({ additional: [{ key: 'polygon', id: 137, confirmations: 500 }] }).get(
      137,
    );
    expect(changed).toEqual({ ...plain, confirmations: 500, reorgDepthMax: 500 });
  });

  it('keeps neither endpoints nor contracts nor strict proof of a known chain under another id', () => {
    const registry = createChainRegistry({ additional: [{ key: 'eth', id: 1337 }] });
    expect(registry.get('eth')).toMatchObject({
      id: 1337,
      confirmations: 12,
      rpcUrls: [],
      multicall3: null,
      erc20Exclusions: [],
      proofPolicy: 'record',
    });
    expect(registry.find(1)).toBeNull();
  });

  it('refuses an id of a known chain under another name, naming both', () => {
    const make = () => createChainRegistry({ additional: [{ key: 'mynet', id: 8453 }] });
    expect(make).toThrow(ChainCollisionError);
    expect(make).toThrow(/mynet \(8453\) and the chain base \(8453\)/);
  });

  it('names the configured chain first also when it changes a known one', () => {
    expect(() => createChainRegistry({ additional: [{ key: 'eth', id: 137 }] })).toThrow(
      /configured chain eth \(137\) and the chain polygon/,
    );
  });

  it('refuses a name that another chain answers to, an alias id, and two configured chains of one id', () => {
    expect(() => createChainRegistry({ additional: [{ key: 'polygon-amoy', id: 9 }] })).toThrow(/amoy/);
    expect(() => createChainRegistry({ additional: [{ key: 'edgeware', id: 2021 }] })).toThrow(/ronin-testnet/);
    expect(() =>
      createChainRegistry({
        additional: [
          { key: 'one', id: 9 },
          { key: 'two', id: 9 },
        ],
      }),
    ).toThrow(/two \(9\) and the chain one \(9\)/);
  });
});
