import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { DEFAULT_PRICING_RULES } from '@chainstead/chains/pricing-rules';
import { describe, expect, it } from 'vitest';
import { parse, problemsOf } from '../testing/configuration-problems.ts';
import {
  ConfigurationFileError,
  environmentSource,
  fileSource,
  parseConfiguration,
  printConfiguration,
} from './index.ts';

describe('defaults', () => {
  it('need nothing: embedded database, loopback, all roles, no chain', () => {
    const { configuration, warnings } = parse({});
    expect(configuration).toMatchObject({
      roles: ['api', 'ingest', 'worker'].map((role) => ({ role, processes: 1 })),
      database: { url: null, dataDirectory: './.chainstead' },
      redisUrl: null,
      api: { host: '127.0.0.1', port: 8080, keys: [], pageLimitMax: 100, rateLimit: null, readyLagBlocks: 20 },
      privateNetworks: false,
      chains: [],
      verifyBlocksPerSecond: 'auto',
      webhookRetryDelaysMs: [1, 10, 60, 120, 360, 720, 1_440].map((minutes) => minutes * 60_000),
    });
    expect(warnings).toEqual([]);
  });

  it('count an empty value as absent, as compose files write it', () => {
    expect(parse({ PORT: '', DATABASE_URL: ' ', CHAINS: '' }).configuration).toMatchObject({
      api: { port: 8080 },
      database: { url: null },
    });
  });
});

describe('processes', () => {
  it('are counted, or as many as there are cores', () => {
    expect(parse({ ROLES: 'api:Auto, ingest:64,worker' }).configuration.roles).toEqual([
      { role: 'api', processes: 'auto' },
      { role: 'ingest', processes: 64 },
      { role: 'worker', processes: 1 },
    ]);
  });

  it.each(['0', '65', '1.5', '-1', 'all', '', '2:2'])('are not %s', (processes) => {
    const problem = expect.stringContaining(
      `contains worker:${processes}, which is neither a role nor role:processes`,
    );
    expect(problemsOf({ ROLES: `api,worker:${processes}` })).toMatchObject([{ key: 'ROLES', problem }]);
  });

  it('are counted once per role', () => {
    const problem = expect.stringContaining('contains a role twice');
    expect(problemsOf({ ROLES: 'api,api:2' })).toMatchObject([{ key: 'ROLES', problem }]);
  });
});

describe('webhooks', () => {
  it('are tried again after the times given, in any unit', () => {
    const delaysMs = (retries: string) => parse({ WEBHOOK_RETRIES: retries }).configuration.webhookRetryDelaysMs;
    expect(delaysMs('250ms, 1s,2m,1d')).toEqual([250, 1_000, 120_000, 86_400_000]);
    expect(delaysMs('none')).toEqual([]);
  });
});

describe('chains', () => {
  it('keep every dataset, or those that are named', () => {
    const names = (environment: Record<string, string>) =>
      parse(environment).configuration.datasets.map(({ name }) => name);
    expect(names({})).toEqual(expect.arrayContaining(['erc20-transfers', 'nft-transfers', 'nft-trades']));
    expect(names({ DATASETS: 'nft-trades, erc20-transfers' })).toEqual(['nft-trades', 'erc20-transfers']);
  });

  it('keep all datasets except those of exchanges with light, and those that are named next to it', () => {
    const names = (environment: Record<string, string>) =>
      parse(environment).configuration.datasets.map(({ name }) => name);
    const ofExchanges = ['pool-creations', 'swaps', 'pool-states', 'bin-changes'];
    const light = names({}).filter((name) => !ofExchanges.includes(name));
    expect(names({ DATASETS: 'light' })).toEqual(light);
    expect(names({ DATASETS: 'light,swaps,nft-trades' })).toEqual([...light, 'swaps']);
  });

  it('index swaps unless they are off', () => {
    const swapsOf = (environment: Record<string, string>) =>
      parse({ CHAINS: 'eth,base', ...environment }).configuration.chains.map(({ chain }) => chain.swaps);
    expect(swapsOf({})).toEqual(['all', 'all']);
    expect(swapsOf({ SWAPS_BASE: 'off' })).toEqual(['all', 'off']);
  });

  it('that are not known take a wrapped coin; that of a known chain stays', () => {
    const [coin, other] = [`0x${'AB'.repeat(20)}`, `0x${'cd'.repeat(20)}`];
    const own = { CHAINS: 'devnet', CHAIN_ID_DEVNET: '31337', RPC_URLS_DEVNET: 'http://127.0.0.1:8545' };
    const wrappedOf = (environment: Record<string, string>) =>
      parse(environment).configuration.chains.map(({ chain }) => chain.wrappedNative);
    expect(wrappedOf(own)).toEqual([null]);
    expect(wrappedOf({ ...own, WRAPPED_NATIVE_DEVNET: coin })).toEqual([coin.toLowerCase()]);
    const ether = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2';
    expect(wrappedOf({ CHAINS: 'eth' })).toEqual([ether.toLowerCase()]);
    expect(wrappedOf({ CHAINS: 'eth', WRAPPED_NATIVE_ETH: ether })).toEqual([ether.toLowerCase()]);
    expect(problemsOf({ CHAINS: 'eth', WRAPPED_NATIVE_ETH: other })).toMatchObject([
      {
        key: 'WRAPPED_NATIVE_ETH',
        given: other,
        problem: `is not ${ether.toLowerCase()}, the wrapped native token of Ethereum Mainnet`,
      },
    ]);
    // Another chain under a known name: known facts belong to the ID.
    const fork = { CHAINS: 'eth', CHAIN_ID_ETH: '31337', RPC_URLS_ETH: 'http://127.0.0.1:8545' };
    expect(wrappedOf(fork)).toEqual([null]);
    expect(wrappedOf({ ...fork, WRAPPED_NATIVE_ETH: other })).toEqual([other]);
  });

  it('take marketplaces and an ether feed of their own', () => {
    const feed = `0x${'AB'.repeat(20)}`;
    const { configuration } = parse({
      CHAINS: 'devnet',
      CHAIN_ID_DEVNET: '31337',
      RPC_URLS_DEVNET: 'http://127.0.0.1:8545',
      MARKETPLACES_DEVNET: `seaport-1.6:0x${'11'.repeat(20)}`,
      ETHER_FEED_DEVNET: feed,
    });
    expect(configuration.chains[0]?.chain).toMatchObject({
      marketplaces: [{ protocol: 'seaport-1.6', address: `0x${'11'.repeat(20)}` }],
      etherPrice: { feed: { proxy: feed.toLowerCase(), decimals: 8 }, pools: [] },
    });
  });

  it('take dollar tokens and feeds, which replace the known feeds of their tokens', () => {
    const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    const [token, feed, other] = [`0x${'cd'.repeat(20)}`, `0x${'AB'.repeat(20)}`, `0x${'ef'.repeat(20)}`];
    const { configuration } = parse({
      CHAINS: 'eth',
      DOLLAR_TOKENS_ETH: `${token}, ${other}`,
      FEEDS_ETH: `${usdc}:${feed}, native:${other}:18:60`,
    });
    const [{ chain } = { chain: null }] = configuration.chains;
    expect(chain?.dollarTokens).toEqual([token, other]);
    const [proxy, ether] = [feed.toLowerCase(), `0x${'00'.repeat(20)}`];
    expect(chain?.tokenFeeds.slice(0, 2)).toEqual([
      { tokens: [usdc.toLowerCase()], proxy, decimals: 8, aggregators: [proxy] },
      { tokens: [ether], proxy: other, decimals: 18, aggregators: [other], heartbeatSeconds: 60 },
    ]);
    expect(chain?.tokenFeeds.slice(2).flatMap(({ tokens }) => tokens)).toHaveLength(3);
  });

  it('take the figures of the pricing method, and trusted hooks', () => {
    const hook = '0x0010D0D5dB05933Fa0D9F7038D365E1541a41888';
    const { configuration } = parse({
      CHAINS: 'eth, base',
      TRUSTED_HOOKS_ETH: hook,
      PRICE_MIN_SIDE_USD: '150.25',
      PRICE_WINDOW_SECONDS: '3600',
      PRICE_HOLD_SECONDS: '0',
      PRICE_HOP_MIN_USD: '100000',
    });
    const [eth, base] = configuration.chains;
    const pricing = {
      ...DEFAULT_PRICING_RULES,
      minSideDepth: { numerator: 15_025n, denominator: 100n },
      windowSeconds: 3_600,
      holdSeconds: 0,
      hopMinDepth: { numerator: 100_000n, denominator: 1n },
    };
    expect(eth?.chain).toMatchObject({ pricing, trustedHooks: [hook.toLowerCase()] });
    expect(base?.chain).toMatchObject({ pricing, trustedHooks: [] });
    expect(parse({ CHAINS: 'eth' }).configuration.chains[0]?.chain.pricing).toEqual(DEFAULT_PRICING_RULES);
  });

  it('take what the environment says over what is known of them', () => {
    const { configuration } = parse({
      CHAINS: 'eth, base-sepolia',
      RPC_URLS_ETH: 'https://a.example/v2/secret, https://b.example',
      RPC_RATE_ETH: '12.5',
      RPC_CONCURRENCY_ETH: '4',
      START_BLOCK_ETH: '18000000',
      END_BLOCK_ETH: '18000100',
      CONFIRMATIONS_ETH: '3',
      VERIFICATION_ETH: 'record',
      BACKFILL_PROOF_ETH: 'receipts',
      BACKFILL_ORDER_ETH: 'oldest-first',
      RETENTION_BLOCKS_ETH: '1000000',
      RETENTION_FROM_DATE_ETH: '2025-01-01',
      TRANSACTIONS_ETH: 'all',
      TRANSACTION_INPUT: 'selector',
      VERIFY_SENDERS: 'off',
      LOGS_ETH: 'all',
      INTERNAL_TRANSFERS_ETH: 'all',
      POLL_INTERVAL_MS: '1234',
    });
    const [eth, baseSepolia] = configuration.chains;
    expect(eth).toMatchObject({
      chain: {
        ...{ key: 'eth', id: 1, confirmations: 3, pollIntervalMs: 1234, proofPolicy: 'record' },
        transactions: { mode: 'all', input: 'selector', verifiesSenders: false },
        logs: 'all',
        internalTransfers: 'all',
      },
      upstreams: [
        { url: 'https://a.example/v2/secret', requestsPerSecond: 12.5, concurrency: 4 },
        { url: 'https://b.example', requestsPerSecond: 12.5, concurrency: 4 },
      ],
      usesPublicUpstreams: false,
      startBlock: 18_000_000,
      endBlock: 18_000_100,
      proof: 'record',
      backfillProof: 'receipts',
      backfillOrder: 'oldest-first',
      retention: { blocks: 1_000_000, since: new Date('2025-01-01T00:00:00Z') },
    });
    expect(baseSepolia).toMatchObject({
      chain: { key: 'base-sepolia', id: 84532, pollIntervalMs: 1234, transactions: { mode: 'wallets' } },
      usesPublicUpstreams: true,
      startBlock: null,
      endBlock: null,
      retention: { blocks: null, since: null },
      proof: 'strict',
      backfillProof: 'none',
    });
    expect(baseSepolia?.upstreams.length).toBeGreaterThan(0);
  });

  it('begin a chain that is not known here with its first block, unless it has a start', () => {
    const start = (own: Readonly<Record<string, string>>) => {
      const { configuration } = parse({
        CHAINS: 'dev',
        CHAIN_ID_DEV: '31337',
        RPC_URLS_DEV: 'http://127.0.0.1:8545',
        ...own,
      });
      return configuration.chains[0];
    };
    expect(start({})).toMatchObject({ startBlock: null, startsWhole: true, isOwn: true });
    expect(start({ START_BLOCK_DEV: 'head' })).toMatchObject({
      startBlock: null,
      startsWhole: false,
      isOwn: true,
    });
    expect(start({ START_BLOCK_DEV: '7' })).toMatchObject({ startBlock: 7, startsWhole: false });
    const { configuration } = parse({ CHAINS: 'eth', CHAIN_ID_ETH: '1' });
    expect(configuration.chains[0]).toMatchObject({ startBlock: null, startsWhole: false, isOwn: false });
  });

  it('take VERIFICATION and BACKFILL_PROOF for all chains unless a chain has its own', () => {
    const { configuration } = parse({
      CHAINS: 'eth,base',
      VERIFICATION: 'record',
      BACKFILL_PROOF: 'receipts',
      VERIFICATION_BASE: 'strict',
    });
    expect(
      configuration.chains.map(({ proof, chain, backfillProof }) => [proof, chain.proofPolicy, backfillProof]),
    ).toEqual([
      ['record', 'record', 'receipts'],
      ['strict', 'strict', 'receipts'],
    ]);
    // On-demand reads go by the chain, which the registry also returns.
    expect(configuration.chainRegistry.get('eth').proofPolicy).toBe('record');
  });

  it('that nobody knows are made of the configuration alone, and known to the registry by name and id', () => {
    const { configuration } = parse({
      CHAINS: 'my-appchain',
      CHAIN_ID_MY_APPCHAIN: '0x7a69',
      RPC_URLS_MY_APPCHAIN: 'http://127.0.0.1:8545',
      NATIVE_SYMBOL_MY_APPCHAIN: 'APP',
      BLOCK_TIME_MS_MY_APPCHAIN: '250',
      REORG_DEPTH_MAX_MY_APPCHAIN: '7',
    });
    expect(configuration.chains[0]?.chain).toMatchObject({
      key: 'my-appchain',
      id: 31337,
      native: { symbol: 'APP' },
      blockTimeMs: 250,
      reorgDepthMax: 7,
    });
    expect(configuration.chainRegistry.find('0x7a69')?.key).toBe('my-appchain');
    expect(configuration.chainRegistry.find('My-Appchain')?.id).toBe(31337);
  });
});

describe('the gateway', () => {
  const known = createChainRegistry()
    .all()
    .flatMap(({ gatewaySlug }) => gatewaySlug ?? []);
  const slugs = (environment: Record<string, string>) =>
    parse(environment).configuration.gateway.chains.map(({ slug }) => slug);

  it('offers the chains that are indexed, or others, or all', () => {
    expect(slugs({})).toEqual([]);
    expect(slugs({ CHAINS: 'eth,base' })).toEqual(['eth', 'base']);
    expect(slugs({ CHAINS: 'eth', GATEWAY_CHAINS: 'polygon, ethereum' })).toEqual(['polygon', 'eth']);
    expect(new Set(slugs({ GATEWAY_CHAINS: 'all' }))).toEqual(new Set(known));
    const own = {
      CHAINS: 'mine',
      CHAIN_ID_MINE: '31337',
      RPC_URLS_MINE: 'http://127.0.0.1:1',
      GATEWAY_CHAINS: 'all',
    };
    expect(new Set(slugs(own))).toEqual(new Set([...known, 'mine']));
  });

  it('takes keys of chains that are not indexed, and warns of none of them', () => {
    const { configuration, warnings } = parse({
      CHAINS: 'eth',
      RPC_URLS_ETH: 'https://a.example',
      GATEWAY_CHAINS: 'eth,base,devnet',
      RPC_URLS_BASE: 'https://b.example,https://c.example',
      RPC_PRIVATE_URLS_BASE: 'https://relay.example',
      RPC_RATE_BASE: '5',
      GATEWAY_INTEGRITY_BASE: 'strict',
      CHAIN_ID_DEVNET: '31337',
      RPC_URLS_DEVNET: 'http://127.0.0.1:8545',
      GATEWAY_RATE_LIMIT: '100',
      GATEWAY_METHOD_LIMITS: 'eth_getLogs=10, eth_call=50',
    });
    expect(warnings).toEqual([]);
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth']);
    expect(configuration.gateway).toMatchObject({
      rateLimits: {
        weightPerSecond: 100,
        allCallsPerSecond: null,
        callsPerSecond: new Map([
          ['eth_getLogs', 10],
          ['eth_call', 50],
        ]),
      },
      offersTraces: false,
      chains: [
        { slug: 'eth', upstreams: [{ url: 'https://a.example' }], integrity: 'none' },
        {
          slug: 'base',
          upstreams: [
            { url: 'https://b.example', requestsPerSecond: 5 },
            { url: 'https://c.example', requestsPerSecond: 5 },
            { url: 'https://relay.example', requestsPerSecond: 5, isPrivate: true },
          ],
          integrity: 'strict',
        },
        { slug: 'devnet', chain: { id: 31337 }, upstreams: [{ url: 'http://127.0.0.1:8545' }] },
      ],
    });
  });
});

describe('the rate of JSON-RPC calls', () => {
  it.each([
    [{}, null, null],
    [{ RATE_LIMIT: '40' }, 40, null],
    [{ RATE_LIMIT: '40', GATEWAY_RATE_LIMIT: '100' }, null, 100],
    [{ RATE_LIMIT: '40', GATEWAY_RATE_LIMIT: '0' }, null, null],
    [{ GATEWAY_RATE_LIMIT: '100' }, null, 100],
  ])('of %j', (variables, allCallsPerSecond, weightPerSecond) => {
    expect(parse(variables).configuration.gateway.rateLimits).toMatchObject({
      allCallsPerSecond,
      weightPerSecond,
    });
  });

  it('has traces where they are allowed', () => {
    expect(parse({ GATEWAY_TRACES: 'on' }).configuration.gateway.offersTraces).toBe(true);
  });
});

describe('files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'chainstead-configuration-'));
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  it('of KEY=value lines give what the environment does not', () => {
    const path = file('a.env', '# comment\nPORT=9000\nCHAINS="eth,base"\nHOST=127.0.0.2\n');
    const { configuration } = parseConfiguration([environmentSource({ PORT: '9001' }), fileSource(path)]);
    expect(configuration.api).toMatchObject({ port: 9001, host: '127.0.0.2' });
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth', 'base']);
  });

  it('of JSON hold numbers, booleans and lists as they are', () => {
    const path = file(
      'a.json',
      JSON.stringify({ PORT: 9000, CHAINS: ['eth', 'base'], WEBHOOK_ALLOW_PRIVATE: true }),
    );
    const { configuration } = parseConfiguration([fileSource(path)]);
    expect(configuration.api.port).toBe(9000);
    expect(configuration.chains).toHaveLength(2);
    expect(configuration.privateNetworks).toBe(true);
  });

  it('are warned of for every key that has no effect', () => {
    const path = file('b.env', 'COLOUR=blue\n');
    const { warnings } = parseConfiguration([fileSource(path)]);
    expect(warnings.map(({ message }) => message)).toEqual([`COLOUR (${path}) has no effect: unknown setting`]);
  });

  it.each([
    ['that do not exist', 'missing.env', null],
    ['that are no JSON', 'broken.json', '{'],
    ['with a nested value', 'nested.json', '{"PORT":{"a":1}}'],
  ])('%s are refused by name', (_what, name, text) => {
    const path = text === null ? join(folder, name) : file(name, text);
    expect(() => fileSource(path)).toThrow(ConfigurationFileError);
    expect(() => fileSource(path)).toThrow(path);
  });
});

describe('printout', () => {
  it('says where each value comes from and redacts secrets', () => {
    const sources = [
      environmentSource({
        CHAINS: 'eth',
        API_KEYS: 'very-secret-key',
        DATABASE_URL: 'postgres://u:hunter2@db:5432/x',
        RPC_URLS_ETH: 'https://a.example/v2/hunter2,wss://b.example/hunter2',
      }),
    ];
    const printed = printConfiguration(sources, ['eth']);
    expect(JSON.stringify(printed)).not.toMatch(/hunter2|very-secret-key/);
    expect(printed).toEqual(
      expect.arrayContaining([
        { key: 'API_KEYS', value: '[redacted]', origin: 'environment' },
        { key: 'DATABASE_URL', value: 'postgres://db:5432/x', origin: 'environment' },
        { key: 'RPC_URLS_ETH', value: 'https://a.example,wss://b.example', origin: 'environment' },
        { key: 'PORT', value: '8080', origin: 'default' },
        { key: 'END_BLOCK_ETH', value: null, origin: 'default' },
      ]),
    );
  });
});

it('metrics stay on this machine, whatever address the API has', () => {
  const given = { HOST: '0.0.0.0', METRICS_PORT: '9464', API_KEYS: 'key-of-a-client' };
  const { configuration } = parse(given);
  expect(configuration.metrics).toEqual({ host: '127.0.0.1', port: 9464 });
});
