import { join } from 'node:path';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, it } from 'vitest';
import { coinEvent, coinStoreChange, exampleTransaction, sliceOf } from '../testing/example-transaction.ts';
import {
  readProtoTransactions,
  readTransactions,
  recordedTransactions,
} from '../testing/recorded-transactions.ts';
import type { AptosTransaction } from '../transaction.ts';
import { deriveTransfers } from './dataset.ts';

const long = (digits: string): string => `0x${digits.padStart(64, '0')}`;

/** Returns the rows except gas, as owner, activity, amount and coin. */
function movements(transaction: Partial<AptosTransaction>): unknown[] {
  return deriveTransfers(sliceOf([exampleTransaction(transaction)]))
    .filter((row) => !row.is_gas_fee)
    .map((row) => [row.owner_address, row.activity_type, row.amount, row.coin_type]);
}

describe('gas', () => {
  it('is one row of the sender in Aptos coins', () => {
    const transaction = exampleTransaction({ version: 1_234, sender: '0xabc', gasUsed: '18000000000000000000' });
    expect(deriveTransfers(sliceOf([transaction]))).toEqual([
      {
        network: 'mainnet',
        owner_address: long('abc'),
        transaction_version: 1_234,
        event_index: -1,
        event_account_address: long('abc'),
        event_creation_number: '-1',
        event_sequence_number: '7',
        activity_type: '0x1::aptos_coin::GasFeeEvent',
        amount: '1800000000000000000000',
        block_height: 123,
        coin_type: '0x1::aptos_coin::AptosCoin',
        coin_type_hash: '0x91ceb1308a98389691e05158b07ed5f079ab78461a6bb8d5a4054b1bb5cb8bb6',
        entry_function_id: '0x1::coin::transfer',
        is_gas_fee: true,
        is_transaction_success: true,
        transaction_timestamp: new Date('2023-11-14T22:13:20.000Z'),
      },
    ]);
  });

  it('is all that a failed transaction leaves', () => {
    const changes = [coinStoreChange('0xabc', '0xa::m::C', '1')];
    const events = [coinEvent('Withdraw', '0xabc', 3, '5')];
    const rows = deriveTransfers(sliceOf([exampleTransaction({ success: false, changes, events })]));
    expect(rows.map((row) => [row.is_gas_fee, row.is_transaction_success])).toEqual([[true, false]]);
  });

  it('is paid by user transactions only', () => {
    const types = ['genesis_transaction', 'block_metadata_transaction', 'state_checkpoint_transaction'];
    const transactions = types.map((type, version) => exampleTransaction({ type, version, sender: null }));
    expect(deriveTransfers(sliceOf(transactions))).toEqual([]);
  });
});

describe('a withdrawal or deposit', () => {
  it('is of the coin whose store, written in the same transaction, has its event handle', () => {
    const changes = [
      coinStoreChange('0xb', '0xa::m::C', '1', 2),
      coinStoreChange('0xb', '0xa::m::D<u8, u8>', '1', 9),
    ];
    const events = [coinEvent('Withdraw', '0xb', 10, '5'), coinEvent('Deposit', '0xb', 2, '6')];
    expect(movements({ changes, events })).toEqual([
      [long('b'), '0x1::coin::WithdrawEvent', '5', '0xa::m::D<u8, u8>'],
      [long('b'), '0x1::coin::DepositEvent', '6', '0xa::m::C'],
    ]);
  });

  it('is found whatever the spelling of its addresses', () => {
    const event = { ...coinEvent('Deposit', long('b'), 2, '6'), type: `${long('1')}::coin::DepositEvent` };
    expect(movements({ changes: [coinStoreChange('0x0b', '0xa::m::C', '1')], events: [event] })).toEqual([
      [long('b'), '0x1::coin::DepositEvent', '6', '0xa::m::C'],
    ]);
  });

  it('is of the only coin store that its account loses', () => {
    const lost = (coin: string) => ({
      type: 'delete_resource',
      address: '0xb',
      resource: `0x1::coin::CoinStore<${coin}>`,
    });
    const events = [coinEvent('Withdraw', '0xb', 3, '5')];
    expect(movements({ changes: [lost('0xa::m::C')], events })).toEqual([
      [long('b'), '0x1::coin::WithdrawEvent', '5', '0xa::m::C'],
    ]);
    expect(movements({ changes: [lost('0xa::m::C'), lost('0xa::m::D')], events })).toEqual([]);
  });

  it('has no row where no store tells its coin', () => {
    expect(movements({ events: [coinEvent('Withdraw', '0xb', 3, '5')] })).toEqual([]);
  });

  it.each(['0x1::coin::CoinWithdraw<0xa::m::C>', '0x1::fungible_asset::Withdraw', '0x2::coin::WithdrawEvent'])(
    'is not an event %s',
    (type) => {
      const events = [{ ...coinEvent('Withdraw', '0xb', 3, '5'), type }];
      expect(movements({ changes: [coinStoreChange('0xb', '0xa::m::C', '1')], events })).toEqual([]);
    },
  );

  it('is one of genesis too', () => {
    const changes = [coinStoreChange('0xb', '0xa::m::C', '1')];
    const events = [coinEvent('Deposit', '0xb', 2, '6')];
    expect(
      movements({ type: 'genesis_transaction', sender: null, entryFunction: null, changes, events }),
    ).toHaveLength(1);
  });
});

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('recorded transactions'), () => {
  const given = folder;
  const all = (['mainnet', 'testnet'] as const).flatMap((network) =>
    isMissing ? [] : recordedTransactions(folder, network),
  );

  it('have a row for every coin event, and one for the gas of every user transaction', () => {
    const rows = deriveTransfers(sliceOf(all));
    const events = all.flatMap((transaction) =>
      transaction.events.filter(({ type }) => /^0x1::coin::(Withdraw|Deposit)Event$/.test(type)),
    );
    const users = all.filter(({ type }) => type === 'user_transaction');
    expect(events.length).toBeGreaterThan(40);
    expect(rows.filter((row) => !row.is_gas_fee)).toHaveLength(events.length);
    expect(rows.filter((row) => row.is_gas_fee)).toHaveLength(users.length);
  });

  it('of a transfer give what it moved', () => {
    const [transfer] = all.filter(({ version }) => version === 590098441);
    const rows = deriveTransfers(sliceOf(transfer === undefined ? [] : [transfer]));
    const sender = '0x5a2de9a743dfe5b4dd76527e6c2091f11819091d7ba1efb2fb6d57c0b83b759b';
    expect(
      rows.map((row) => [
        row.owner_address,
        row.event_creation_number,
        row.event_sequence_number,
        row.amount,
        row.is_gas_fee,
      ]),
    ).toEqual([
      [sender, '-1', '0', '700', true],
      [sender, '3', '0', '100500000', false],
      ['0x94ac80ba879c9e750688c920f5d605b55f254b8b7ee27636c7d0877880cb61a9', '2', '1', '100500000', false],
    ]);
    expect(new Set(rows.map((row) => `${row.coin_type} ${row.entry_function_id}`))).toEqual(
      new Set(['0x1::aptos_coin::AptosCoin 0x1::aptos_account::transfer_coins']),
    );
    expect(rows[0]?.transaction_timestamp).toEqual(new Date('2024-05-09T01:18:59.000Z'));
  });

  it('give the coin of a store that was deleted without its handles', () => {
    const [deletion] = all.filter(({ version }) => version === 2186504987);
    const rows = deriveTransfers(sliceOf(deletion === undefined ? [] : [deletion]));
    expect(rows.filter((row) => !row.is_gas_fee).map((row) => [row.amount, row.coin_type])).toEqual([
      ['641197548', '0x1::aptos_coin::AptosCoin'],
    ]);
  });

  it('of genesis give deposits and withdrawals, no gas, at no time', () => {
    const file = 'rest-local-chain/test_get_transactions_output_genesis_transaction.json';
    const rows = deriveTransfers(sliceOf(readTransactions(join(given, file))));
    const validator = '0x66b22b7465af92a9dc8d07d2878716d9dffbbb280830a7d8cf80334b5da812ef';
    expect(rows.map((row) => [row.owner_address, row.activity_type, row.amount])).toEqual([
      [long('a550c18'), '0x1::coin::DepositEvent', '18446744073709551615'],
      [validator, '0x1::coin::DepositEvent', '1'],
      [validator, '0x1::coin::WithdrawEvent', '1'],
    ]);
    expect(rows.map((row) => row.transaction_timestamp.getTime())).toEqual([0, 0, 0]);
  });

  it('that failed give gas only', () => {
    const failed = all.filter(({ success }) => !success);
    expect(deriveTransfers(sliceOf(failed)).map((row) => [row.transaction_version, row.is_gas_fee])).toEqual([
      [407418623, true],
    ]);
  });

  it.each(['mainnet', 'testnet'] as const)('of %s give the same rows from proto-json', (network) => {
    const proto = readProtoTransactions(join(given, `proto-json/imported_${network}_txns`)).toSorted(
      (a, b) => a.version - b.version,
    );
    expect(deriveTransfers(sliceOf(proto))).toEqual(
      deriveTransfers(sliceOf(recordedTransactions(given, network))),
    );
  });

  it.each([
    ['imported_devnet_txns', 2],
    ['scripted_transactions', 3],
  ])('of %s give gas and no transfer of coins', (name, count) => {
    const rows = deriveTransfers(sliceOf(readProtoTransactions(join(given, `proto-json/${name}`))));
    expect(rows.map((row) => row.is_gas_fee)).toEqual(Array.from({ length: count }, () => true));
  });
});
