import { recordedData } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { coinStoreChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import { recordedTransactions } from '../testing/recorded-transactions.ts';
import type { AptosTransaction } from '../transaction.ts';
import { deriveBalances } from './dataset.ts';

const long = (digits: string): string => `0x${digits.padStart(64, '0')}`;

function balances(...transactions: Partial<AptosTransaction>[]): unknown[] {
  return deriveBalances(sliceOf(transactions.map(exampleTransaction))).map((row) => [
    row.owner_address,
    row.coin_type,
    row.transaction_version,
    row.amount,
  ]);
}

describe('a balance', () => {
  it('is what a written coin store holds, of the account that it lies at', () => {
    expect(
      balances({ version: 5, changes: [coinStoreChange('0xb', '0xa::m::C<u8>', '18446744073709551615')] }),
    ).toEqual([[long('b'), '0xa::m::C<u8>', 5, '18446744073709551615']]);
  });

  it('is 0 where the coin store is deleted', () => {
    const changes = [
      { type: 'delete_resource', address: '0xb', resource: `${long('1')}::coin::CoinStore<0xa::m::C>` },
    ];
    expect(balances({ version: 5, changes })).toEqual([[long('b'), '0xa::m::C', 5, '0']]);
  });

  it('is also of a transaction that failed, which paid gas, and not of one of the system', () => {
    const changes = [coinStoreChange('0xb', '0xa::m::C', '1')];
    expect(balances({ success: false, changes })).toHaveLength(1);
    expect(balances({ type: 'genesis_transaction', changes })).toHaveLength(1);
    expect(balances({ type: 'block_metadata_transaction', changes })).toEqual([]);
  });

  it('is not of another resource', () => {
    const changes = ['0x2::coin::CoinStore<0xa::m::C>', '0xb::v::Box<0x1::coin::CoinStore<0xa::m::C>>'].map(
      (type) => ({
        ...coinStoreChange('0xb', '0xa::m::C', '1'),
        data: { type, data: { coin: { value: '1' } } },
      }),
    );
    expect(balances({ changes })).toEqual([]);
  });

  it('is not read where the amount is malformed', () => {
    const change = { type: 'write_resource', address: '0xb' };
    const type = '0x1::coin::CoinStore<0xa::m::C>';
    const data = [
      null,
      {},
      { coin: 5 },
      { coin: { value: 5 } },
      { coin: { value: '-5' } },
      { coin: { value: '9'.repeat(40) } },
    ];
    expect(balances({ changes: data.map((fields) => ({ ...change, data: { type, data: fields } })) })).toEqual(
      [],
    );
  });
});

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('recorded transactions'), () => {
  const rows = (['mainnet', 'testnet'] as const).flatMap((network) =>
    isMissing ? [] : deriveBalances(sliceOf(recordedTransactions(folder, network), network)),
  );

  it('give a balance for each coin store they write or delete', () => {
    expect(rows).toHaveLength(64 + 10 + 1);
  });

  it('leave nothing in a deleted store', () => {
    const owner = '0x3e91d912e7c62dfd884fd8b9a2261fecd33c78cf4da1b1ef2e7452c585c6f30d';
    expect(
      rows.filter((row) => row.owner_address === owner).map((row) => [row.transaction_version, row.amount]),
    ).toEqual([[2186504987, '0']]);
  });

  it('give what sender and receiver of a transfer hold after it', () => {
    expect(
      rows
        .filter((row) => row.transaction_version === 590098441)
        .map((row) => [row.owner_address.slice(0, 6), row.amount]),
    ).toEqual([
      ['0x5a2d', '499300'],
      ['0x94ac', '100600000'],
    ]);
  });
});
