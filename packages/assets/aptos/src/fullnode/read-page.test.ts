import { createAptosLedger, readAptosTransactions, recordedData } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPage } from './read-page.ts';

const MARKERS = [Buffer.from('::coin::CoinInfo')];

/** Returns a transaction in node JSON form, with data in its events. */
function written(version: number, data: unknown, more: object = {}): string {
  return JSON.stringify({
    version: String(version),
    hash: '0x00',
    success: true,
    accumulator_root_hash: `0x${version}`,
    changes: [],
    events: [
      {
        guid: { creation_number: '1', account_address: '0x1' },
        sequence_number: '0',
        type: '0x1::m::E',
        data,
      },
    ],
    timestamp: '1',
    type: 'user_transaction',
    ...more,
  });
}

const page = (...transactions: string[]): Buffer => Buffer.from(`[${transactions.join(',')}]`);
const versionsOf = (body: Buffer, first: number, markers: Buffer[] | null = MARKERS): number[] =>
  readPage(body, first, 100, markers).transactions.map(({ version }) => version);

const quiet = (version: number): string => written(version, 'nothing');
const marked = (version: number): string => written(version, '0x1::coin::CoinInfo<0xa::b::C>');

describe('a page', () => {
  it('gives the transactions that hold a marker, and the root of the last one', () => {
    const body = page(quiet(7), marked(8), quiet(9), quiet(10), marked(11), quiet(12));
    expect(readPage(body, 7, 100, MARKERS)).toMatchObject({
      first: 7,
      last: 12,
      root: '0x12',
      bytes: body.length,
    });
    expect(versionsOf(body, 7)).toEqual([8, 11]);
    expect(versionsOf(body, 7, null)).toEqual([7, 8, 9, 10, 11, 12]);
  });

  it.each([0, 3_000_000_000, 2 ** 53 - 10])('is read at version %d', (first) => {
    expect(versionsOf(page(quiet(first), quiet(first + 1), marked(first + 2), quiet(first + 3)), first)).toEqual([
      first + 2,
    ]);
  });

  it.each<[string, Buffer, string]>([
    ['has a gap', page(quiet(7), quiet(8), quiet(10)), 'version 10 came where 9 was expected'],
    [
      'gives a version twice',
      page(quiet(7), quiet(8), quiet(8), quiet(9)),
      'version 8 came where 9 was expected',
    ],
    ['begins elsewhere', page(quiet(8), quiet(9)), 'version 8 came where 7 was expected'],
    ['is in another order', page(quiet(7), quiet(9), quiet(8)), 'version 9 came where 8 was expected'],
    ['has a gap behind what matters', page(marked(7), quiet(8), quiet(9), quiet(11)), 'version 11'],
    ['is empty', page(), 'no transaction from version 7'],
    ['is an object', Buffer.from('{"message":"no"}'), 'not a list'],
    ['holds something else', page(quiet(7), '"x"'), 'not a transaction'],
    ['is more than was asked for', page(...Array.from({ length: 101 }, (_, index) => quiet(7 + index))), '101'],
    ['has a version that is no number', page(written(7, '', { version: '7x' })), 'is not a version'],
  ])('that %s does not count', (_, body, said) => {
    expect(() => readPage(body, 7, 100, MARKERS)).toThrow(said);
    expect(() => readPage(body, 7, 100, null)).toThrow(said);
  });

  it('that is cut off anywhere does not count', () => {
    const body = page(quiet(7), marked(8), quiet(9));
    for (let length = 0; length < body.length; length++)
      expect(() => readPage(body.subarray(0, length), 7, 100, MARKERS), String(length)).toThrow(
        'not complete JSON',
      );
  });

  // Invariant: HTTP-BODY-BOUNDED
  it('of many small values is refused before it is parsed, with fewer transactions at first', () => {
    const lists = (bytes: number): string => `[${'[],'.repeat(bytes / 3)}0]`;
    const body = Buffer.from(`[${written(7, null).replace('null', () => lists(20_000_000))}]`);
    const read = (page: Buffer, limit: number) => () => readPage(page, 7, limit, MARKERS);
    const refused = (kind: string) => expect.objectContaining({ kind, code: 'FULLNODE_FAULT' });
    expect(read(body, 100)).toThrow(refused('too-large'));
    expect(read(body, 1)).toThrow(refused('malformed'));
    const vector = Buffer.from(`[${written(7, null).replace('null', () => lists(3_000_000))}]`);
    expect(read(vector, 100)).toThrow(refused('too-large'));
    expect(read(vector, 1)).not.toThrow();
  });

  it('whose events look like transactions is read as what it is', () => {
    const forged = { version: '8', hash: '0x00', accumulator_root_hash: '0x8', changes: [] };
    const body = page(written(7, [forged, { ...forged, version: '9' }]), marked(8), quiet(9), quiet(10));
    expect(versionsOf(body, 7)).toContain(8);
    expect(readPage(body, 7, 100, MARKERS)).toMatchObject({ last: 10, root: '0x10' });
    const inText = page(written(7, '},{"version":"8","hash":"0x'), quiet(8), marked(9), quiet(10));
    expect(versionsOf(inText, 7)).toContain(9);
  });

  it('written with spaces is read all the same', () => {
    const spaced = Buffer.from(
      JSON.stringify(JSON.parse(page(quiet(7), marked(8), quiet(9)).toString()), null, 2),
    );
    expect(versionsOf(spaced, 7)).toContain(8);
  });

  it('gives what parsing the whole gives, whatever its transactions hold', () => {
    const content = fc.oneof(
      fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text)),
      fc.constant('a::coin::CoinInfo'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(content, { minLength: 1, maxLength: 20 }), fc.nat(1e12), (contents, first) => {
        const texts = contents.map((data, index) => written(first + index, data));
        const body = page(...texts);
        const whole = readPage(body, first, 100, null);
        const some = readPage(body, first, 100, MARKERS);
        expect({ ...some, transactions: [] }).toEqual({ ...whole, transactions: [] });
        const matter = whole.transactions.filter((_, index) => texts[index]?.includes('::coin::CoinInfo'));
        expect(some.transactions).toEqual(expect.arrayContaining(matter));
        expect(whole.transactions).toEqual(expect.arrayContaining([...some.transactions]));
      }),
    );
  });
});

const { folder, isMissing, title } = recordedData('data/aptos');

describe.skipIf(isMissing)(title('recorded transactions'), () => {
  const files = [
    'rest-local-chain/test_get_transactions_output_genesis_transaction.json',
    'rest-derived/mainnet_transactions.json',
    'rest-derived/testnet_transactions.json',
    'rest-local-chain/test_get_transactions_output_user_transaction_with_entry_function_payload.json',
    'rest-local-chain/test_get_txn_execute_failed_by_entry_function_validation.json',
  ];

  it('are all read, and of a page with few coins only those', () => {
    const transactions = files.flatMap((file) => readAptosTransactions(folder, file));
    const ledger = createAptosLedger({ transactions, place: { from: 0, every: 2 } });
    const body = page(
      ...Array.from({ length: 100 }, (_, version) => ledger.transaction(version).toString('utf8')),
    );
    const whole = readPage(body, 0, 100, null);
    expect(whole.transactions).toHaveLength(100);
    expect(whole.transactions[0]).toMatchObject({ type: 'genesis_transaction', timestamp: null, sender: null });
    const coins = versionsOf(body, 0);
    expect(coins.length).toBeGreaterThan(0);
    expect(coins.length).toBeLessThan(10);
    expect(coins).toContain(0);
  });
});
