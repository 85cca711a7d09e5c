import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { rawSql, sql } from '@chainstead/db';
import { LABEL_REVISION } from '@chainstead/pages';
import { recordedData } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ImportListOptions, type ImportReport, importList } from './import-list.ts';
import { entityOf } from './label-formats.ts';

const { folder: FOLDER, isMissing, title } = recordedData('data/lists');

const chains = createChainRegistry();
const USDC = '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48';
const DAI = '0x6b175474e89094c44da98b954eedeac495271d0f';
const SCAM = `0x${'5c'.repeat(20)}`;

const scratch = scratchOfFile();
beforeEach(() =>
  scratch.database
    .query(sql`TRUNCATE tokens, token_list_entries, spam_list_entries, address_labels`)
    .then(() => undefined),
);

type Changes = Pick<ImportListOptions, 'kind'> & Partial<ImportListOptions>;

function imported(content: unknown, changes: Changes): Promise<ImportReport> {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return importList({ database: scratch.database, chains, source: 'test', content: text, ...changes });
}

const usdc = {
  chainId: 1,
  address: USDC,
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  logoURI: 'https://logo.example/usdc.png',
};
const dai = { chainId: 1, address: DAI, name: 'Dai', symbol: 'DAI', decimals: 18 };

async function token(address: string, chainId = 1): Promise<Record<string, unknown> | undefined> {
  const [row] = await scratch.database.query(
    sql`SELECT name, symbol, decimals, logo, verified, possible_spam FROM tokens WHERE address = ${Buffer.from(address.slice(2), 'hex')} AND chain_id = ${chainId}`,
  );
  return row;
}

async function setFacts(address: string, name: string | null, symbol: string | null, chainId = 1): Promise<void> {
  await scratch.database.query(
    sql`INSERT INTO tokens (address, chain_id, name, symbol, decimals, standard, facts_status) VALUES (${Buffer.from(address.slice(2), 'hex')}, ${chainId}, ${name}, ${symbol}, 9, 'erc20', 'known')
     ON CONFLICT (address, chain_id) DO UPDATE SET name = ${name}, symbol = ${symbol}, decimals = 9, facts_status = 'known'`,
  );
}

const count = async (table: string, source = 'test'): Promise<number> =>
  Number(
    (
      await scratch.database.query<{ rows: number }>(
        sql`SELECT count(*) AS rows FROM ${rawSql(table)} WHERE source = ${source}`,
      )
    )[0]?.rows,
  );

describe('token lists', () => {
  test('give unknown tokens name, symbol, decimals and logo, and make them verified', async () => {
    expect(await imported({ name: 'List', version: {}, tokens: [usdc] }, { kind: 'token-list' })).toEqual({
      format: 'token list',
      rows: 1,
      skipped: [],
    });
    expect(await token(USDC)).toEqual({
      name: 'USD Coin',
      symbol: 'USDC',
      decimals: 6,
      logo: 'https://logo.example/usdc.png',
      verified: true,
      possibleSpam: false,
    });
  });

  test('leave what the chain says, and add the logo', async () => {
    await setFacts(USDC, 'On-chain Name', 'ONC');
    await imported([usdc], { kind: 'token-list' });
    expect(await token(USDC)).toMatchObject({
      name: 'On-chain Name',
      symbol: 'ONC',
      decimals: 9,
      logo: usdc.logoURI,
      verified: true,
    });
  });

  test('imported again replace exactly the rows of their source', async () => {
    await imported([usdc, dai], { kind: 'token-list', source: 'a' });
    await imported([{ ...usdc, name: 'Other Name', logoURI: null }], { kind: 'token-list', source: 'b' });
    expect(
      await imported([{ ...dai, name: 'Dai Stablecoin' }], { kind: 'token-list', source: 'a' }),
    ).toMatchObject({
      rows: 1,
    });
    expect([await count('token_list_entries', 'a'), await count('token_list_entries', 'b')]).toEqual([1, 1]);
    expect(await token(DAI)).toMatchObject({ name: 'Dai Stablecoin', verified: true });
    expect(await token(USDC)).toMatchObject({ name: 'Other Name', logo: null, verified: true });
    await imported([dai], { kind: 'token-list', source: 'b' });
    expect(await token(USDC)).toEqual({
      name: null,
      symbol: null,
      decimals: null,
      logo: null,
      verified: false,
      possibleSpam: false,
    });
  });

  test('count what they leave out and why, and clean what they keep', async () => {
    const report = await imported(
      [
        usdc,
        { ...usdc, name: 'Again' },
        { ...dai, address: '0x12' },
        { ...dai, chainId: 987_654_321 },
        { ...dai, decimals: 300 },
        { ...dai, name: 'Da\u0000i\u202e', logoURI: 'javascript:alert(1)' },
        'nonsense',
      ],
      { kind: 'token-list' },
    );
    expect(report.rows).toBe(2);
    expect(Object.fromEntries(report.skipped.map(({ reason, count: times }) => [reason, times]))).toEqual({
      'repeated address': 1,
      'address is not 0x and 40 hexadecimal digits': 1,
      'chain 987654321 is unknown here': 1,
      'decimals is above 255': 1,
      'Invalid input: expected object, received string': 1,
    });
    expect(await token(DAI)).toMatchObject({ name: 'Dai', logo: null });
  });

  test('a list that is broken or has nothing usable changes nothing', async () => {
    await imported([usdc], { kind: 'token-list' });
    await expect(imported([{ ...dai, address: 'x' }], { kind: 'token-list' })).rejects.toMatchObject({
      code: 'LIST_EMPTY',
    });
    await expect(imported('{"tokens": [', { kind: 'token-list' })).rejects.toMatchObject({
      code: 'LIST_FORMAT_UNKNOWN',
    });
    await expect(imported({ blacklist: ['evil.example'] }, { kind: 'token-list' })).rejects.toMatchObject({
      code: 'LIST_FORMAT_UNKNOWN',
    });
    expect(await count('token_list_entries')).toBe(1);
  });
});

describe('scam lists', () => {
  test('mark tokens on every chain, and unmark them when they are dropped', async () => {
    await setFacts(SCAM, 'Fine Name', 'FINE', 1);
    await setFacts(SCAM, 'Fine Name', 'FINE', 8453);
    await imported([SCAM], { kind: 'spam' });
    expect([(await token(SCAM, 1))?.possibleSpam, (await token(SCAM, 8453))?.possibleSpam]).toEqual([true, true]);
    await imported([`0x${'aa'.repeat(20)}`], { kind: 'spam' });
    expect((await token(SCAM, 1))?.possibleSpam).toBe(false);
    await imported([SCAM], { kind: 'spam', chainId: 8453 });
    expect([(await token(SCAM, 1))?.possibleSpam, (await token(SCAM, 8453))?.possibleSpam]).toEqual([
      false,
      true,
    ]);
  });

  test('go before the rule, which spares tokens of token lists', async () => {
    await setFacts(USDC, 'Visit https://usdc.example', 'USDC');
    await imported([SCAM, USDC], { kind: 'spam', source: 'scams' });
    await imported([usdc], { kind: 'token-list' });
    expect(await token(USDC)).toMatchObject({ verified: true, possibleSpam: true });
    await imported([SCAM], { kind: 'spam', source: 'scams' });
    expect(await token(USDC)).toMatchObject({ verified: true, possibleSpam: false });
    await imported([dai], { kind: 'token-list' });
    expect(await token(USDC)).toMatchObject({ verified: false, possibleSpam: true });
  });
});

describe('labels', () => {
  test('keep label, entity and logo, by chain', async () => {
    await imported(
      [{ address: DAI, label: 'Dai: Vat', entity: 'Maker', entity_logo: 'https://logo.example/m.png' }],
      {
        kind: 'labels',
        chainId: 1,
      },
    );
    expect(
      await scratch.database.query(sql`SELECT chain_id, label, entity, entity_logo FROM address_labels`),
    ).toEqual([{ chainId: 1, label: 'Dai: Vat', entity: 'Maker', entityLogo: 'https://logo.example/m.png' }]);
    await imported(`address,label,entity,entity_logo\n${DAI},Somebody,,\n`, { kind: 'labels', chainId: 0 });
    expect(await scratch.database.query(sql`SELECT chain_id, label, entity FROM address_labels`)).toEqual([
      { chainId: 0, label: 'Somebody', entity: null },
    ]);
  });

  test('of each import have a revision of their own', async () => {
    const revisions = () =>
      scratch.database
        .query(sql`SELECT ${LABEL_REVISION} AS revision FROM generate_series(1, 1)`)
        .then(([row]) => row?.revision);
    const labels = [{ address: DAI, label: 'Dai: Vat' }];
    await imported(labels, { kind: 'labels', chainId: 1 });
    const first = await revisions();
    await imported([SCAM], { kind: 'spam', source: 'scams' });
    expect(await revisions()).toBe(first);
    await imported(labels, { kind: 'labels', chainId: 1 });
    expect(await revisions()).toBe(Number(first) + 1);
  });

  test('of a format that names no chain ask for one', async () => {
    await expect(imported({ [DAI]: { name: 'Dai', labels: [] } }, { kind: 'labels' })).rejects.toMatchObject({
      code: 'LIST_CHAIN_MISSING',
    });
  });

  test.each([
    ['0x: ERC721 Proxy V3', ['0x-protocol'], '0x'],
    ['Binance 10', ['exchange', 'binance'], 'Binance'],
    ['Gnosis Safe Proxy 1', ['gnosis-safe'], 'Gnosis Safe'],
    ['Fake_Phishing123', ['phish-hack'], null],
    ['12:30 Club', [], null],
  ])('the entity of %s with %j is %s', (name, labels, entity) => {
    expect(entityOf(name, labels)).toBe(entity);
  });
});

/** Each real file: its kind, what must be said of its chain, and how many entries it has at least. */
const FILES: readonly (readonly [string, ListImport])[] = [
  [
    'metamask-contract-metadata/contract-map.json',
    { kind: 'token-list', format: 'MetaMask contract map', rowsMin: 300 },
  ],
  ['viaprotocol-tokenlists/ethereum.sample.json', { kind: 'token-list', format: 'token array', rowsMin: 200 }],
  [
    'etherscan-labels/etherscan/tokens/stablecoin.csv',
    { kind: 'token-list', format: 'explorer tokens (CSV)', rowsMin: 20, chainId: 1 },
  ],
  [
    'etherscan-labels/etherscan/combinedAccountLabels.sample.json',
    { kind: 'labels', format: 'etherscan-labels', rowsMin: 1_000, chainId: 1 },
  ],
  [
    'etherscan-labels/etherscan/combinedTokenLabels.sample.json',
    { kind: 'labels', format: 'etherscan-labels', rowsMin: 1_000, chainId: 1 },
  ],
  [
    'etherscan-labels/bscscan/combinedAccountLabels.sample.json',
    { kind: 'labels', format: 'etherscan-labels', rowsMin: 100, chainId: 56 },
  ],
  [
    'etherscan-labels/etherscan/accounts/binance.csv',
    { kind: 'labels', format: 'explorer accounts (CSV)', rowsMin: 20, chainId: 1 },
  ],
  ['scamsniffer/address.json', { kind: 'spam', format: 'address array', rowsMin: 2_400 }],
  ['scamsniffer/combined.sample.json', { kind: 'spam', format: 'addresses by domain', rowsMin: 40 }],
  ['scamsniffer/archive-2022-06-10.json', { kind: 'spam', format: 'ScamSniffer archive day', rowsMin: 7 }],
  [
    'forta/labels/1/etherscan_malicious_labels.csv',
    { kind: 'spam', format: 'labelled addresses (CSV)', rowsMin: 250, chainId: 1 },
  ],
  [
    'forta/labels/1/malicious_smart_contracts.csv',
    { kind: 'spam', format: 'labelled addresses (CSV)', rowsMin: 250, chainId: 1 },
  ],
  [
    'forta/labels/1/phishing_scams.csv',
    { kind: 'spam', format: 'labelled addresses (CSV)', rowsMin: 250, chainId: 1 },
  ],
  [
    'forta/labels/10/malicious_smart_contracts.csv',
    { kind: 'spam', format: 'labelled addresses (CSV)', rowsMin: 1, chainId: 10 },
  ],
  ...(isMissing ? [] : readdirSync(join(FOLDER, 'uniswap-default-token-list'))).map(
    (file) =>
      [`uniswap-default-token-list/${file}`, { kind: 'token-list', format: 'token array', rowsMin: 1 }] as const,
  ),
];

interface ListImport extends Pick<ImportListOptions, 'chainId'> {
  readonly kind: 'token-list' | 'labels' | 'spam';
  readonly format: string;
  readonly rowsMin: number;
}

describe.skipIf(isMissing)(title('real lists'), () => {
  test.each(FILES)('%s is read whole', async (file, { format, rowsMin, ...options }) => {
    const report = await imported(readFileSync(join(FOLDER, file), 'utf8'), { ...options, source: file });
    expect(report.format).toBe(format);
    expect(report.rows).toBeGreaterThanOrEqual(rowsMin);
    // Nothing is left out but what real lists do hold: repeats, collectibles and rows without a name.
    for (const { reason } of report.skipped)
      expect(['repeated address', 'not an ERC-20 token', 'neither label nor entity']).toContain(reason);
    const table = { 'token-list': 'token_list_entries', labels: 'address_labels', spam: 'spam_list_entries' }[
      options.kind
    ];
    expect(await count(table, file)).toBe(report.rows);
  });

  test('a list of domains is refused by name', async () => {
    const content = readFileSync(join(FOLDER, 'eth-phishing-detect/config.sample.json'), 'utf8');
    await expect(imported(content, { kind: 'spam' })).rejects.toThrow(/list of domains/);
  });
});
