/** A wallet's transactions over seeded rows: contents, order, pages, errors, and parsing by the official SDK. */
import { addressBytes, sql } from '@chainstead/db';
import { addressOf, atDepth, hashOf, timestampOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededHash, seedTransactionCoverage } from '../testing/seeded-transactions.ts';
import { at, CONTRACT, FRIEND, placesOf, WALLET, walletListsStage } from '../testing/wallet-lists-stage.ts';

const stage = walletListsStage();
const { ask, eth, get, keeping, seed } = stage;

describe('a wallet’s transactions', () => {
  test('are those that it sent or received, and those that created it', async () => {
    await seed(
      at(1),
      at(2, 0, {}, [FRIEND, WALLET]),
      at(3, 0, {}, [WALLET, WALLET]),
      at(4, 0, {}, [FRIEND, CONTRACT]),
      at(5, 0, { contractAddress: CONTRACT }, [FRIEND, null]),
      at(6, 0, { contractAddress: CONTRACT, status: 0 }, [FRIEND, null]),
    );
    expect(placesOf(await get(WALLET))).toEqual(['3.0', '2.0', '1.0']);
    expect(placesOf(await get(CONTRACT))).toEqual(['5.0', '4.0']);
    expect(placesOf(await get(FRIEND))).toEqual(['6.0', '5.0', '4.0', '2.0', '1.0']);
    expect((await get(addressOf(0xdead))).result).toEqual([]);
  });

  test('have all that is known of each', async () => {
    await stage.database.query(
      sql`INSERT INTO address_labels (address, chain_id, source, label, entity) VALUES (${addressBytes(FRIEND)}, ${eth.id}, 'test', 'Friend 1', 'Friends')`,
    );
    const input = `0xa9059cbb${'1'.padStart(64, '0')}${'7'.padStart(64, '0')}` as const;
    const largest = '-1';
    await seed(
      at(9, 3, {
        input,
        selector: '0xa9059cbb',
        nonce: largest,
        l1Fee: '1000000000000',
        blobGasUsed: '10',
        blobGasPrice: '3',
      }),
    );
    const page = await get(`${WALLET.toUpperCase().replace('X', 'x')}?chain=0x1&include=`);
    expect(page).toEqual({
      page: 1,
      page_size: 100,
      cursor: null,
      indexed: { from_block: null, to_block: null, complete: false, senders: 'recovered' },
      result: [
        {
          hash: seededHash({ blockNumber: 9, transactionIndex: 3 }),
          nonce: (2n ** 64n - 1n).toString(),
          transaction_index: '3',
          from_address: WALLET,
          from_address_entity: null,
          from_address_entity_logo: null,
          from_address_label: null,
          to_address: FRIEND,
          to_address_entity: 'Friends',
          to_address_entity_logo: null,
          to_address_label: 'Friend 1',
          value: '5',
          gas: '30000',
          gas_price: '1000000000',
          input,
          receipt_cumulative_gas_used: '42000',
          receipt_gas_used: '21000',
          receipt_contract_address: null,
          receipt_root: null,
          receipt_status: '1',
          transaction_fee: '0.000022',
          blob_fee: '0.00000000000000003',
          block_timestamp: new Date(timestampOf(9) * 1_000).toISOString(),
          block_number: '9',
          block_hash: hashOf(1, 9),
          method_label: 'transfer',
        },
      ],
    });
    expect(stage.requested).toEqual([]);
  });

  test('say of which blocks they tell', async () => {
    await seedTransactionCoverage(stage.database, eth, 0, 20);
    await seed(at(5), at(7, 0, { senderRecovered: false }));
    expect((await get(WALLET)).indexed).toEqual({
      from_block: '0',
      to_block: '20',
      complete: true,
      senders: 'believed',
    });
    expect((await get(`${WALLET}?to_block=6`)).indexed).toMatchObject({ complete: true, senders: 'recovered' });
    expect((await get(`${WALLET}?to_block=21`)).indexed).toMatchObject({ complete: false });
  });

  test('are bounded by blocks and dates, both inclusive, a block before a date', async () => {
    await seed(...[1, 2, 3, 4, 5].map((block) => at(block)));
    const date = (block: number) => new Date(timestampOf(block) * 1_000).toISOString();
    const blocks = async (query: string) =>
      placesOf(await get(`${WALLET}?order=asc&${query}`)).map(Number.parseFloat);
    expect(await blocks('from_block=2&to_block=4')).toEqual([2, 3, 4]);
    expect(await blocks(`from_date=${date(3)}`)).toEqual([3, 4, 5]);
    expect(await blocks(`to_date=${date(3)}`)).toEqual([1, 2, 3]);
    expect(await blocks(`to_date=${timestampOf(2)}&from_date=${timestampOf(2)}`)).toEqual([2]);
    expect(await blocks(`from_block=4&from_date=${date(1)}`)).toEqual([4, 5]);
    expect(await blocks(`from_date=${date(9)}`)).toEqual([]);
  });

  test('stay as they were while newer ones arrive', async () => {
    await seedTransactionCoverage(stage.database, eth, 0, 3);
    await seed(at(1), at(2), at(3));
    const first = await get(`${WALLET}?limit=2`);
    await seed(at(4), at(3, 1));
    const second = await get(`${WALLET}?chain=0x1&cursor=${first.cursor}`);
    expect([placesOf(first), placesOf(second), second.page, second.cursor]).toEqual([
      ['3.0', '2.0'],
      ['1.0'],
      2,
      null,
    ]);
  });

  test('have pages that together are all of them once, whatever there is', async () => {
    const place = fc.record({ block: fc.integer({ min: 1, max: 6 }), index: fc.integer({ min: 0, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(place, { selector: ({ block, index }) => block * 10 + index, maxLength: 24 }),
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('ASC', 'DESC'),
        fc.option(fc.integer({ min: 0, max: 7 })),
        fc.option(fc.integer({ min: 0, max: 7 })),
        async (places, limit, order, from, to) => {
          await stage.database.query(sql`TRUNCATE transactions, account_transactions, blocks`);
          await seed(
            ...places.map(({ block, index }, nth) =>
              at(block, index, {}, nth % 2 === 0 ? [WALLET, FRIEND] : [FRIEND, WALLET]),
            ),
          );
          const bounds = `${from === null ? '' : `&from_block=${from}`}${to === null ? '' : `&to_block=${to}`}`;
          const isReversed = from !== null && to !== null && from > to;
          const { status } = await ask(`${WALLET}?limit=${limit}&order=${order}${bounds}`);
          expect(status).toBe(isReversed ? 400 : 200);
          if (isReversed) return;
          const found: string[] = [];
          for (let page = await get(`${WALLET}?limit=${limit}&order=${order}${bounds}`); ; ) {
            expect(page.result.length).toBeLessThanOrEqual(limit);
            found.push(...placesOf(page));
            if (page.cursor === null) break;
            expect(page.result).toHaveLength(limit);
            page = await get(`${WALLET}?cursor=${page.cursor}`);
          }
          const expected = places
            .filter(({ block }) => block >= (from ?? 0) && block <= (to ?? 9))
            .toSorted((one, other) => one.block - other.block || one.index - other.index)
            .map(({ block, index }) => `${block}.${index}`);
          expect(found).toEqual(order === 'ASC' ? expected : expected.toReversed());
        },
      ),
      { numRuns: atDepth(25) },
    );
  });

  test('are not answered while a block of them is being replaced', async () => {
    await seed(at(1), at(2));
    await stage.database.query(sql`DELETE FROM transactions WHERE block_number = 2`);
    expect((await ask(WALLET)).status).toBe(503);
    await stage.database.query(sql`DELETE FROM account_transactions WHERE block_number = 2`);
    expect(placesOf(await get(WALLET))).toEqual(['1.0']);
  });
});

test('a chain whose transactions are not kept, with the key to set', async () => {
  keeping.mode = 'off';
  const body = {
    message: 'transactions of eth are not indexed: set TRANSACTIONS_ETH=all and restart',
    details: { reason: 'not-indexed', configuration_key: 'TRANSACTIONS_ETH' },
  };
  for (const path of [WALLET, `${WALLET}/verbose`]) expect(await ask(path)).toEqual({ status: 400, body });
});

describe('the official SDK', () => {
  test('reads a list and its next page', async () => {
    await seed(at(1), at(2, 0, { status: 0 }), at(3, 0, { contractAddress: CONTRACT }, [WALLET, null]));
    stage.answerOf = () => ({ readAt: Date.now(), traced: null });
    const { transaction } = stage.sdk.EvmApi;
    const found = await transaction.getWalletTransactions({
      chain: '0x1',
      address: WALLET,
      limit: 2,
      include: 'internal_transactions',
    });
    expect(found.result.map(({ blockNumber }) => String(blockNumber))).toEqual(['3', '2']);
    expect(found.result.map(({ receiptStatus, to }) => [receiptStatus, to?.lowercase])).toEqual([
      [1, undefined],
      [0, FRIEND],
    ]);
    expect(found.pagination.cursor).toBeTruthy();
    const next = await found.next();
    expect(next.result.map(({ hash }) => hash)).toEqual([seededHash({ blockNumber: 1, transactionIndex: 0 })]);
    expect(next.hasNext()).toBe(false);
  });
});
