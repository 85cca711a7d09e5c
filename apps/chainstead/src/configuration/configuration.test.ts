import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ConfigurationError,
  ConfigurationFileError,
  type ConfigurationProblem,
  environmentSource,
  fileSource,
  parseConfiguration,
  printConfiguration,
} from './index.ts';

const parse = (environment: Record<string, string>) => parseConfiguration([environmentSource(environment)]);

function problemsOf(environment: Record<string, string>): readonly ConfigurationProblem[] {
  try {
    parse(environment);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  throw new Error('The configuration was accepted');
}

describe('defaults', () => {
  it('need nothing: embedded database, loopback, all roles, no chain', () => {
    const { configuration, warnings } = parse({});
    expect(configuration).toMatchObject({
      roles: ['api', 'ingest', 'worker'],
      database: { url: null, dataDirectory: './.chainstead', poolSize: 10 },
      redisUrl: null,
      api: { host: '127.0.0.1', port: 8080, keys: [], pageLimitMax: 100, rateLimit: null, readyLagBlocks: 20 },
      privateNetworks: false,
      chains: [],
      proverRate: 'auto',
      webhooks: { retries: 7, retryDelaysMs: [1, 10, 60, 120, 360, 720, 1_440].map((minutes) => minutes * 60_000) },
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

describe('webhooks', () => {
  it('are tried again after the times given, in any unit', () => {
    const { webhooks } = parse({ WEBHOOK_RETRY_SCHEDULE: '250ms, 1s,2m,1d', WEBHOOK_RETRIES: '0' }).configuration;
    expect(webhooks).toMatchObject({ retries: 0, retryDelaysMs: [250, 1_000, 120_000, 86_400_000] });
  });

  it.each(['5', '1w', '1m,,2m', '-1s'])('refuse the schedule %s', (given) => {
    expect(problemsOf({ WEBHOOK_RETRY_SCHEDULE: given })).toMatchObject([
      { key: 'WEBHOOK_RETRY_SCHEDULE', problem: expect.stringContaining('not a duration') },
    ]);
  });
});

describe('chains', () => {
  it('keep every dataset, or those that are named', () => {
    const names = (environment: Record<string, string>) =>
      parse(environment).configuration.datasets.map(({ name }) => name);
    expect(names({})).toEqual(expect.arrayContaining(['erc20-transfers', 'nft-transfers', 'nft-trades']));
    expect(names({ DATASETS: 'nft-trades, erc20-transfers' })).toEqual(['nft-trades', 'erc20-transfers']);
    expect(problemsOf({ DATASETS: 'erc20-transfers,nfts' })).toMatchObject([
      { key: 'DATASETS', problem: expect.stringContaining('names a dataset that does not exist') },
    ]);
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
    expect(
      problemsOf({ CHAINS: 'eth', MARKETPLACES_ETH: 'seaport', ETHER_FEED_ETH: '0x12' }).map(({ key }) => key),
    ).toEqual(expect.arrayContaining(['MARKETPLACES_ETH', 'ETHER_FEED_ETH']));
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
      PROOF_ETH: 'record',
      BACKFILL_PROOF_ETH: 'receipts',
      BACKFILL_ORDER_ETH: 'oldest-first',
      POLL_INTERVAL_MS: '1234',
      POLL_INTERVAL_MS_BASE_SEPOLIA: '777',
    });
    const [eth, baseSepolia] = configuration.chains;
    expect(eth).toMatchObject({
      chain: { key: 'eth', id: 1, confirmations: 3, pollIntervalMs: 1234 },
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
    });
    expect(baseSepolia).toMatchObject({
      chain: { key: 'base-sepolia', id: 84532, pollIntervalMs: 777 },
      usesPublicUpstreams: true,
      startBlock: null,
      endBlock: null,
      proof: 'strict',
      backfillProof: 'none',
    });
    expect(baseSepolia?.upstreams.length).toBeGreaterThan(0);
  });

  it('take PROOF and BACKFILL_PROOF for all chains unless a chain has its own', () => {
    const { configuration } = parse({
      CHAINS: 'eth,base',
      PROOF: 'record',
      BACKFILL_PROOF: 'receipts',
      PROOF_BASE: 'strict',
    });
    expect(configuration.chains.map(({ proof, backfillProof }) => [proof, backfillProof])).toEqual([
      ['record', 'receipts'],
      ['strict', 'receipts'],
    ]);
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
  const CARD = [
    'eth,sepolia,holesky,base,base-sepolia,polygon,amoy,bsc,bsc-testnet,arbitrum,arbitrum-sepolia,optimism',
    'optimism-sepolia,gnosis,gnosis-testnet,linea,linea-sepolia,avalanche,moonbeam,moonriver,moonbase,blast',
    'blast-sepolia,mantle,mantle-sepolia,polygon-zkevm,polygon-zkevm-cardona,zksync,zksync-sepolia,zetachain',
    'zetachain-testnet,fantom,opbnb,flow,flow-testnet,ronin,ronin-testnet,lisk,lisk-sepolia,pulse,monad',
  ].flatMap((line) => line.split(','));
  const slugs = (environment: Record<string, string>) =>
    parse(environment).configuration.gateway.chains.map(({ slug }) => slug);

  it('offers the chains that are indexed, or others, or all', () => {
    expect(slugs({})).toEqual([]);
    expect(slugs({ CHAINS: 'eth,base' })).toEqual(['eth', 'base']);
    expect(slugs({ CHAINS: 'eth', GATEWAY_CHAINS: 'polygon, ethereum' })).toEqual(['polygon', 'eth']);
    expect(new Set(slugs({ GATEWAY_CHAINS: 'all' }))).toEqual(new Set(CARD));
    const own = { CHAINS: 'mine', CHAIN_ID_MINE: '31337', RPC_URLS_MINE: 'http://127.0.0.1:1', GATEWAY_CHAINS: 'all' };
    expect(new Set(slugs(own))).toEqual(new Set([...CARD, 'mine']));
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
      GATEWAY_LOG_RANGE_MAX_BASE: '50',
      CHAIN_ID_DEVNET: '31337',
      RPC_URLS_DEVNET: 'http://127.0.0.1:8545',
      GATEWAY_LOG_RANGE_MAX: '500',
      GATEWAY_RATE_LIMIT: '100',
      GATEWAY_METHOD_LIMITS: 'eth_getLogs=10, eth_call=50',
    });
    expect(warnings).toEqual([]);
    expect(configuration.chains.map(({ chain }) => chain.key)).toEqual(['eth']);
    expect(configuration.gateway).toMatchObject({
      weightPerSecond: 100,
      callsPerSecond: new Map([
        ['eth_getLogs', 10],
        ['eth_call', 50],
      ]),
      chains: [
        { slug: 'eth', upstreams: [{ url: 'https://a.example' }], integrity: 'none', logRangeMax: 500 },
        {
          slug: 'base',
          upstreams: [
            { url: 'https://b.example', requestsPerSecond: 5 },
            { url: 'https://c.example', requestsPerSecond: 5 },
            { url: 'https://relay.example', requestsPerSecond: 5, isPrivate: true },
          ],
          integrity: 'strict',
          logRangeMax: 50,
        },
        { slug: 'devnet', chain: { id: 31337 }, upstreams: [{ url: 'http://127.0.0.1:8545' }] },
      ],
    });
  });

  it.each([
    ['a chain that nobody knows', { GATEWAY_CHAINS: 'etherum' }, 'GATEWAY_CHAINS'],
    ['a chain twice', { GATEWAY_CHAINS: 'eth,ethereum' }, 'GATEWAY_CHAINS'],
    ['a chain of its own without upstreams', { GATEWAY_CHAINS: 'mine', CHAIN_ID_MINE: '99' }, 'RPC_URLS_MINE'],
    [
      "a chain named as one of the API's paths",
      { GATEWAY_CHAINS: 'streams', CHAIN_ID_STREAMS: '99', RPC_URLS_STREAMS: 'http://a' },
      'GATEWAY_CHAINS',
    ],
    ['a limit of a method that is not offered', { GATEWAY_METHOD_LIMITS: 'debug_x=1' }, 'GATEWAY_METHOD_LIMITS'],
    ['a limit without a number', { GATEWAY_METHOD_LIMITS: 'eth_call' }, 'GATEWAY_METHOD_LIMITS'],
    ['a limit of nothing', { GATEWAY_METHOD_LIMITS: 'eth_call=0' }, 'GATEWAY_METHOD_LIMITS'],
    ['an integrity that does not exist', { CHAINS: 'eth', GATEWAY_INTEGRITY_ETH: 'some' }, 'GATEWAY_INTEGRITY_ETH'],
  ])('refuses %s', (_what, environment, key) => {
    expect(problemsOf(environment).map((problem) => problem.key)).toEqual([key]);
  });
});

describe('problems', () => {
  it('are told all at once, each with key, value, what is allowed and an example', () => {
    const problems = problemsOf({
      PORT: '99999',
      LOG_LEVEL: 'loud',
      DATABASE_URL: 'mysql://root:hunter2@db/x',
      CHAINS: 'eth,etherum',
      START_BLOCK_ETH: 'yesterday',
      RPC_URLS_ETH: 'ftp://user:hunter2@node',
    });
    expect(problems.map(({ key, given, problem }) => [key, given, problem])).toEqual(
      expect.arrayContaining([
        ['PORT', '99999', 'is not between 0 and 65535'],
        ['LOG_LEVEL', 'loud', 'is not one of them'],
        ['DATABASE_URL', 'mysql://db', expect.stringContaining('it does not begin with postgres://')],
        ['START_BLOCK_ETH', 'yesterday', 'is neither a block number nor head'],
        ['RPC_URLS_ETH', 'ftp://node', expect.stringContaining('does not start with http://')],
        ['CHAINS', 'etherum', expect.stringContaining('CHAIN_ID_ETHERUM')],
      ]),
    );
    expect(problems).toHaveLength(6);
    for (const problem of problems) {
      expect(problem.allowed).not.toBe('');
      expect(problem.example).toMatch(new RegExp(`^${problem.key}=.+`));
    }
  });

  it('never show a secret', () => {
    const error = new ConfigurationError(
      problemsOf({ API_KEYS: 'short', DATABASE_URL: 'hunter2', REDIS_URL: 'http://:hunter2@r' }),
    );
    expect(error.message).not.toMatch(/short|hunter2/);
    expect(JSON.stringify(error.facts)).not.toMatch(/"short"|hunter2/);
  });

  it.each([
    ['a negative number', { PORT: '-1' }, 'PORT'],
    ['a fraction where a whole number is needed', { PAGE_LIMIT_MAX: '1.5' }, 'PAGE_LIMIT_MAX'],
    ['a role that does not exist', { ROLES: 'api,indexer' }, 'ROLES'],
    ['a chain named twice', { CHAINS: 'eth,ethereum' }, 'CHAINS'],
    ['an end before the start', { CHAINS: 'eth', START_BLOCK_ETH: '10', END_BLOCK_ETH: '9' }, 'END_BLOCK_ETH'],
    ['only ws upstreams', { CHAINS: 'eth', RPC_URLS_ETH: 'wss://a.example' }, 'RPC_URLS_ETH'],
    ['a chain of its own without upstreams', { CHAINS: 'mine', CHAIN_ID_MINE: '99' }, 'RPC_URLS_MINE'],
    ["another chain's id", { CHAINS: 'mine', CHAIN_ID_MINE: '1', RPC_URLS_MINE: 'http://a' }, 'CHAIN_ID_MINE'],
    ['chain id 0', { CHAINS: 'mine', CHAIN_ID_MINE: '0', RPC_URLS_MINE: 'http://a' }, 'CHAIN_ID_MINE'],
    ['a proof policy that does not exist', { CHAINS: 'eth', PROOF_ETH: 'maybe' }, 'PROOF_ETH'],
    ['a second port that is the first', { PORT: '9000', APTOS_TESTNET_PORT: '9000' }, 'APTOS_TESTNET_PORT'],
    ['something that is not a CIDR', { WEBHOOK_ALLOW_PRIVATE: 'localnet' }, 'WEBHOOK_ALLOW_PRIVATE'],
  ])('refuses %s', (_what, environment, key) => {
    expect(problemsOf(environment).map((problem) => problem.key)).toEqual([key]);
  });
});

describe('chain names', () => {
  it.each([
    ['base sepolia', 'Did you mean base-sepolia, or base,sepolia?'],
    ['eth base', 'Did you mean eth,base?'],
    ['eth;polygn', 'Did you mean eth,polygon?'],
    ['Ethereum Mainnet', 'Did you mean eth?'],
    ['arbitrun', 'Did you mean arbitrum?'],
    ['mainnet', 'Did you mean eth?'],
    ['BNB', 'Did you mean bsc?'],
  ])('%j is answered with: %s', (given, suggestion) => {
    for (const key of ['CHAINS', 'GATEWAY_CHAINS'])
      expect(problemsOf({ [key]: given })).toEqual([
        expect.objectContaining({ key, problem: expect.stringContaining(suggestion) }),
      ]);
  });
});

describe('unknown keys', () => {
  it.each([
    ['RPC_URL_ETH', 'RPC_URLS_ETH'],
    ['ETH_RPC_URL', 'RPC_URLS_ETH'],
    ['START_BLOK_ETH', 'START_BLOCK_ETH'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['API_KEY', 'API_KEYS'],
    ['LOGLEVEL', 'LOG_LEVEL'],
  ])('%s is answered with: did you mean %s?', (given, meant) => {
    const { warnings } = parse({ CHAINS: 'eth', [given]: 'x' });
    expect(warnings).toEqual([{ key: given, message: expect.stringContaining(`did you mean ${meant}?`) }]);
  });

  it.each([
    ['START_BLOCK', 'START_BLOCK_BASE'],
    ['RPC_URL', 'RPC_URLS_BASE'],
  ])('%s is answered with the key of one chain', (given, meant) => {
    const { warnings } = parse({ CHAINS: 'base', [given]: '1' });
    expect(warnings).toEqual([{ key: given, message: expect.stringContaining(`for each chain by itself: ${meant}`) }]);
  });

  it('of a chain that is not in CHAINS are named', () => {
    const { warnings } = parse({ CHAINS: 'eth', RPC_URLS_BASE: 'https://b.example' });
    expect(warnings.map(({ message }) => message)).toEqual([
      'RPC_URLS_BASE (environment) has no effect: base is not in CHAINS (eth)',
    ]);
  });

  it('that belong to others in the environment are passed over', () => {
    const environment = {
      HOME: '/root',
      PATH: '/bin',
      USER: 'me',
      PWD: '/',
      LANG: 'C',
      SHELL: '/bin/sh',
      NODE_ENV: 'x',
    };
    expect(parse(environment).warnings).toEqual([]);
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
    const path = file('a.json', JSON.stringify({ PORT: 9000, CHAINS: ['eth', 'base'], WEBHOOK_ALLOW_PRIVATE: true }));
    const { configuration } = parseConfiguration([fileSource(path)]);
    expect(configuration.api.port).toBe(9000);
    expect(configuration.chains).toHaveLength(2);
    expect(configuration.privateNetworks).toBe(true);
  });

  it('are warned of for every key that has no effect', () => {
    const path = file('b.env', 'COLOUR=blue\n');
    const { warnings } = parseConfiguration([fileSource(path)]);
    expect(warnings.map(({ message }) => message)).toEqual([`COLOUR (${path}) has no effect: there is no such key`]);
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
        { key: 'DATABASE_URL', value: 'postgres://db:5432', origin: 'environment' },
        { key: 'RPC_URLS_ETH', value: 'https://a.example,wss://b.example', origin: 'environment' },
        { key: 'PORT', value: '8080', origin: 'default' },
        { key: 'END_BLOCK_ETH', value: null, origin: 'default' },
      ]),
    );
  });
});
