import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { jsonObject } from '../rows/insert-rows.ts';
import { coinInfoChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import {
  readProtoTransactions,
  readTransactions,
  recordedTransactions,
} from '../testing/recorded-transactions.ts';
import { deriveCoins } from './dataset.ts';

describe('coins of one transaction', () => {
  const derive = (change: ReturnType<typeof coinInfoChange>) =>
    deriveCoins(sliceOf([exampleTransaction({ changes: [change] })]));

  it.each(['0x1', '1', `0x${'1'.padStart(64, '0')}`, '0x01'])(
    'are published by CoinInfo of the framework spelled %s',
    (framework) => {
      expect(derive(coinInfoChange({ type: `${framework}::coin::CoinInfo<0xa::m::C>` }))).toHaveLength(1);
    },
  );

  it.each([
    '0x2::coin::CoinInfo<0xa::m::C>',
    '0x1::coins::CoinInfo<0xa::m::C>',
    '0x1::coin::CoinInfos<0xa::m::C>',
    '0x1::coin::CoinInfo',
    '0x1::coin::CoinInfo<u8>',
    '0x1::coin::CoinInfo<vector<0xa::m::C>>',
    '0x1::coin::CoinInfo<0xa::m::C',
    '0xb::vault::Box<0x1::coin::CoinInfo<0xa::m::C>>',
  ])('are not published by %s', (type) => {
    expect(derive(coinInfoChange({ type }))).toEqual([]);
  });

  it('keep the type as it stands, between the first < and the last >', () => {
    const coinType = '0xA::lp::LP<0xb::m::X, vector<0x0c::m::Y<u8>>,0x1::a::Z>';
    const [row] = derive(coinInfoChange({ type: `0x1::coin::CoinInfo<${coinType}>` }));
    expect(row?.coin_type).toBe(coinType);
    expect(row?.creator_address).toBe(`0x${'a'.padStart(64, '0')}`);
  });

  it('are hashed by their whole type, which is cut', () => {
    const coinType = `0xa::m::LP<${Array.from({ length: 1_000 }, (_, index) => `0xb::m::C${index}`).join(', ')}>`;
    const [row] = derive(coinInfoChange({ type: `0x1::coin::CoinInfo<${coinType}>` }));
    expect(row?.coin_type).toBe(coinType.slice(0, 5_000));
    expect(row?.coin_type_hash).toBe(`0x${sha256(coinType)}`);
  });

  it('are cut between characters, also between those of two units', () => {
    const [row] = derive(coinInfoChange({ name: `${'n'.repeat(31)}😀😀`, symbol: '😀'.repeat(11) }));
    expect(row?.name).toBe(`${'n'.repeat(31)}😀`);
    expect(row?.symbol).toBe('😀'.repeat(10));
  });

  it('have an aggregator only where their supply is one, padded', () => {
    const aggregator = { handle: '0xab', key: '0xcd', limit: '1' };
    const supplies = [
      { vec: [] },
      { vec: [{ aggregator: { vec: [] }, integer: { vec: [{ limit: '1', value: '2' }] } }] },
      { vec: [{ aggregator: { vec: [aggregator] }, integer: { vec: [] } }] },
    ];
    const rows = supplies.map((supply) => derive(coinInfoChange({ supply }))[0]);
    expect(rows.map((row) => [row?.supply_aggregator_table_handle, row?.supply_aggregator_table_key])).toEqual([
      [null, null],
      [null, null],
      [`0x${'ab'.padStart(64, '0')}`, `0x${'cd'.padStart(64, '0')}`],
    ]);
  });

  it.each([{ name: 5 }, { symbol: null }, { decimals: '8' }, { decimals: 256 }, { decimals: -1 }])(
    'are not read of fields that Move could not have written: %j',
    (fields) => {
      expect(derive(coinInfoChange(fields))).toEqual([]);
    },
  );

  it('say what the last write says', () => {
    const changes = [coinInfoChange({ name: 'first' }), coinInfoChange({ name: 'last' })];
    expect(deriveCoins(sliceOf([exampleTransaction({ changes })]))[0]?.name).toBe('last');
  });
});

describe('coins of a slice', () => {
  it('are those of genesis and user transactions', () => {
    const types = [
      'genesis_transaction',
      'user_transaction',
      'block_metadata_transaction',
      'validator_transaction',
    ];
    const transactions = types.map((type, version) =>
      exampleTransaction({
        type,
        version,
        changes: [coinInfoChange({ type: `0x1::coin::CoinInfo<0xa::m::C${version}>` })],
      }),
    );
    const rows = deriveCoins(sliceOf(transactions));
    expect(rows.map((row) => row.transaction_version).sort()).toEqual([0, 1]);
  });

  it('are of the earliest version, also where a slice is out of order', () => {
    const at = (version: number) =>
      exampleTransaction({ version, changes: [coinInfoChange({ name: `at ${version}` })] });
    expect(deriveCoins(sliceOf([at(7), at(5), at(6)])).map((row) => row.name)).toEqual(['at 5']);
  });

  it('have whole seconds, and the epoch where there is no time', () => {
    const seen = (timestamp: bigint | null) =>
      deriveCoins(sliceOf([exampleTransaction({ timestamp, changes: [coinInfoChange({})] })]))[0]
        ?.transaction_timestamp;
    expect(seen(1_665_625_617_418_916n)).toEqual(new Date('2022-10-13T01:46:57.000Z'));
    expect(seen(null)).toEqual(new Date(0));
  });
});

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('recorded transactions'), () => {
  const given = folder;

  it.each(isMissing ? [] : expectedFiles(given).filter(([, rows]) => rows.length > 0))(
    'of %s publish the expected coins',
    (file, expected) => {
      const name = file.split('/').at(-1) ?? '';
      const transactions = file.startsWith('proto-json')
        ? readProtoTransactions(join(given, file, '..')).filter(({ version }) => name.startsWith(`${version}_`))
        : readTransactions(join(given, file));
      const rows = deriveCoins(sliceOf(transactions));
      expect(rows.map(shown)).toEqual(expected);
    },
  );

  it('publish the coins of the expected versions and no others, in both forms', () => {
    const ofNetwork = (network: 'mainnet' | 'testnet') =>
      deriveCoins(sliceOf(recordedTransactions(given, network))).map((row) => row.transaction_version);
    const ofProto = (network: string) =>
      deriveCoins(sliceOf(readProtoTransactions(join(given, `proto-json/imported_${network}_txns`)))).map(
        (row) => row.transaction_version,
      );
    expect([ofNetwork('mainnet'), ofNetwork('testnet')]).toEqual([[152449628], [278556781]]);
    expect(['mainnet', 'testnet', 'devnet'].map(ofProto)).toEqual([[152449628], [278556781], []]);
  });
});

/** Returns the expected rows of the given data by file, for existing files. */
function expectedFiles(given: string): [string, unknown[]][] {
  const expected =
    jsonObject(JSON.parse(readFileSync(join(given, 'expected/derived_coin_info_rows.json'), 'utf8'))) ?? {};
  return Object.entries(expected).flatMap(([file, rows]): [string, unknown[]][] =>
    Array.isArray(rows) && !file.startsWith('rest/') ? [[file, rows.map(expectation)]] : [],
  );
}

function expectation(row: unknown): Record<string, unknown> {
  const {
    resource_address: _,
    transaction_timestamp: timestamp,
    transaction_version_seen: version,
    ...fields
  } = jsonObject(row) ?? {};
  return {
    ...fields,
    version,
    timestamp: typeof timestamp === 'string' ? `${timestamp.slice(0, 19)}.000Z` : '1970-01-01T00:00:00.000Z',
  };
}

function shown(row: ReturnType<typeof deriveCoins>[number]): Record<string, unknown> {
  return {
    coin_type: row.coin_type,
    coin_type_hash: row.coin_type_hash.slice(2),
    name: row.name,
    symbol: row.symbol,
    decimals: row.decimals,
    creator_address: row.creator_address,
    supply_aggregator_table_handle: row.supply_aggregator_table_handle,
    supply_aggregator_table_key: row.supply_aggregator_table_key,
    version: row.transaction_version,
    timestamp: row.transaction_timestamp.toISOString(),
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
