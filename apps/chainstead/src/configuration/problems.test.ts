import { describe, expect, it } from 'vitest';
import { parse, problemsOf } from '../testing/configuration-problems.ts';
import { ConfigurationError } from './index.ts';

describe('problems', () => {
  it('are reported together, each with key, value, allowed values and an example', () => {
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

  it('report a retention window that a reorg could exceed, with the given value and the allowed ones', () => {
    const given = { CHAINS: 'eth', REORG_DEPTH_MAX_ETH: '64' };
    expect(problemsOf({ ...given, RETENTION_BLOCKS_ETH: '64' })).toMatchObject([
      {
        key: 'RETENTION_BLOCKS_ETH',
        given: '64',
        problem: 'is not more than the 64 blocks that a reorg may replace',
        allowed: expect.stringContaining('above the reorg depth'),
      },
    ]);
    const [eth] = parse({
      ...given,
      RETENTION_BLOCKS_ETH: '65',
      RETENTION_FROM_DATE_ETH: '2025-01-01T12:30:00+02:00',
    }).configuration.chains;
    expect(eth?.retention).toEqual({ blocks: 65, since: new Date('2025-01-01T10:30:00Z') });
  });

  it('tell that standbys are of no use to an embedded database, and nothing of them where the database is given', () => {
    const standbys = { DATABASE_READ_URL: 'postgres://u:hunter2@standby:5432/x' };
    expect(problemsOf(standbys)).toMatchObject([
      {
        key: 'DATABASE_READ_URL',
        given: 'postgres://standby:5432/x',
        problem: 'has no effect without DATABASE_URL',
      },
    ]);
    expect(problemsOf({ ...standbys, DATABASE_URL: 'x' }).map(({ key }) => key)).toEqual(['DATABASE_URL']);
    const { database } = parse({ ...standbys, DATABASE_URL: 'postgres://db/x' }).configuration;
    expect(database).toMatchObject({ readUrl: standbys.DATABASE_READ_URL });
  });

  it('are complete sentences', () => {
    const text = new ConfigurationError(problemsOf({ PORT: '99999999' })).message;
    expect(text).toContain('\n  PORT="99999999" is not between 0 and 65535.\n');
  });

  it('never show a secret', () => {
    const error = new ConfigurationError(
      problemsOf({ API_KEYS: 'short', DATABASE_URL: 'hunter2', REDIS_URL: 'http://:hunter2@r' }),
    );
    expect(error.message).not.toMatch(/short|hunter2/);
    expect(JSON.stringify(error.facts)).not.toMatch(/"short"|hunter2/);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a negative number', { PORT: '-1' }, 'PORT'],
    ['a fraction where a whole number is needed', { PAGE_LIMIT_MAX: '1.5' }, 'PAGE_LIMIT_MAX'],
    ['a role that does not exist', { ROLES: 'api,indexer' }, 'ROLES'],
    ['a chain named twice', { CHAINS: 'eth,ethereum' }, 'CHAINS'],
    ['an end before the start', { CHAINS: 'eth', START_BLOCK_ETH: '10', END_BLOCK_ETH: '9' }, 'END_BLOCK_ETH'],
    ['a day that is none', { CHAINS: 'eth', RETENTION_FROM_DATE_ETH: '2025-02-30' }, 'RETENTION_FROM_DATE_ETH'],
    [
      'a time without its zone',
      { CHAINS: 'eth', RETENTION_FROM_DATE_ETH: '2025-02-20T10:00' },
      'RETENTION_FROM_DATE_ETH',
    ],
    [
      'a time of no day',
      { CHAINS: 'eth', RETENTION_FROM_DATE_ETH: '2025-02-20T25:00Z' },
      'RETENTION_FROM_DATE_ETH',
    ],
    ['a day of the future', { CHAINS: 'eth', RETENTION_FROM_DATE_ETH: '9999-01-01' }, 'RETENTION_FROM_DATE_ETH'],
    ['only ws upstreams', { CHAINS: 'eth', RPC_URLS_ETH: 'wss://a.example' }, 'RPC_URLS_ETH'],
    ['a chain of its own without upstreams', { CHAINS: 'mine', CHAIN_ID_MINE: '99' }, 'RPC_URLS_MINE'],
    ["another chain's id", { CHAINS: 'mine', CHAIN_ID_MINE: '1', RPC_URLS_MINE: 'http://a' }, 'CHAIN_ID_MINE'],
    ['a wrapped coin that is no address', { CHAINS: 'eth', WRAPPED_NATIVE_ETH: 'WETH' }, 'WRAPPED_NATIVE_ETH'],
    ['chain id 0', { CHAINS: 'mine', CHAIN_ID_MINE: '0', RPC_URLS_MINE: 'http://a' }, 'CHAIN_ID_MINE'],
    [
      'a choice of transactions that does not exist',
      { CHAINS: 'eth', TRANSACTIONS_ETH: 'some' },
      'TRANSACTIONS_ETH',
    ],
    [
      'a choice of internal transfers that does not exist',
      { CHAINS: 'eth', INTERNAL_TRANSFERS_ETH: 'yes' },
      'INTERNAL_TRANSFERS_ETH',
    ],
    ['a choice of logs that does not exist', { CHAINS: 'eth', LOGS_ETH: 'some' }, 'LOGS_ETH'],
    ['a part of calldata that does not exist', { TRANSACTION_INPUT: 'half' }, 'TRANSACTION_INPUT'],
    ['a proof policy that does not exist', { CHAINS: 'eth', VERIFICATION_ETH: 'maybe' }, 'VERIFICATION_ETH'],
    ['a second port that is the first', { PORT: '9000', APTOS_TESTNET_PORT: '9000' }, 'APTOS_TESTNET_PORT'],
    ['something that is not a CIDR', { WEBHOOK_ALLOW_PRIVATE: 'localnet' }, 'WEBHOOK_ALLOW_PRIVATE'],
    ['a schedule without units', { WEBHOOK_RETRIES: '5' }, 'WEBHOOK_RETRIES'],
    ['a schedule in weeks', { WEBHOOK_RETRIES: '1w' }, 'WEBHOOK_RETRIES'],
    ['a schedule with a gap', { WEBHOOK_RETRIES: '1m,,2m' }, 'WEBHOOK_RETRIES'],
    ['a schedule of less than nothing', { WEBHOOK_RETRIES: '-1s' }, 'WEBHOOK_RETRIES'],
    ['a dataset that does not exist', { DATASETS: 'erc20-transfers,nfts' }, 'DATASETS'],
    ['a marketplace without its address', { CHAINS: 'eth', MARKETPLACES_ETH: 'seaport' }, 'MARKETPLACES_ETH'],
    ['an ether feed that is no address', { CHAINS: 'eth', ETHER_FEED_ETH: '0x12' }, 'ETHER_FEED_ETH'],
    ['a trusted hook that is no address', { CHAINS: 'eth', TRUSTED_HOOKS_ETH: '0x12' }, 'TRUSTED_HOOKS_ETH'],
    ['a depth with seven decimals', { PRICE_MIN_SIDE_USD: '0.1234567' }, 'PRICE_MIN_SIDE_USD'],
    ['a depth below zero', { PRICE_MIN_SIDE_USD: '-1' }, 'PRICE_MIN_SIDE_USD'],
    ['a window of nothing', { PRICE_WINDOW_SECONDS: '0' }, 'PRICE_WINDOW_SECONDS'],
    ['a hold of more than a day', { PRICE_HOLD_SECONDS: '86401' }, 'PRICE_HOLD_SECONDS'],
    ['a depth of a hop in words', { PRICE_HOP_MIN_USD: 'much' }, 'PRICE_HOP_MIN_USD'],
    ['a dollar token that is no address', { CHAINS: 'eth', DOLLAR_TOKENS_ETH: 'USDC' }, 'DOLLAR_TOKENS_ETH'],
    ...[
      ['without its contract', 'native'],
      ['of a token that is no address', `USDC:0x${'11'.repeat(20)}`],
      ['that is no address', 'native:0x12'],
      ['with half a decimal', `native:0x${'11'.repeat(20)}:8.5`],
      ['with too many decimals', `native:0x${'11'.repeat(20)}:37`],
      ['with a heartbeat of nothing', `native:0x${'11'.repeat(20)}:8:0`],
      ['with five parts', `native:0x${'11'.repeat(20)}:8:60:1`],
      ['of a token that has another', `native:0x${'11'.repeat(20)},native:0x${'22'.repeat(20)}`],
    ].map(([what, feeds = '']): [string, Record<string, string>, string] => [
      `a feed ${what}`,
      { CHAINS: 'eth', FEEDS_ETH: feeds },
      'FEEDS_ETH',
    ]),
    ['a gateway chain twice', { GATEWAY_CHAINS: 'eth,ethereum' }, 'GATEWAY_CHAINS'],
    ['a gateway chain without upstreams', { GATEWAY_CHAINS: 'mine', CHAIN_ID_MINE: '99' }, 'RPC_URLS_MINE'],
    [
      "a chain named as one of the API's paths",
      { GATEWAY_CHAINS: 'streams', CHAIN_ID_STREAMS: '99', RPC_URLS_STREAMS: 'http://a' },
      'GATEWAY_CHAINS',
    ],
    ['a limit of a method that is not offered', { GATEWAY_METHOD_LIMITS: 'debug_x=1' }, 'GATEWAY_METHOD_LIMITS'],
    ['a limit without a number', { GATEWAY_METHOD_LIMITS: 'eth_call' }, 'GATEWAY_METHOD_LIMITS'],
    ['a limit of nothing', { GATEWAY_METHOD_LIMITS: 'eth_call=0' }, 'GATEWAY_METHOD_LIMITS'],
    [
      'an integrity that does not exist',
      { CHAINS: 'eth', GATEWAY_INTEGRITY_ETH: 'some' },
      'GATEWAY_INTEGRITY_ETH',
    ],
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
    expect(warnings).toEqual([{ key: given, message: expect.stringContaining(`for each chain: ${meant}`) }]);
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
