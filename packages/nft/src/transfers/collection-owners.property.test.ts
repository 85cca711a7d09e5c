import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { runDerived } from '@chainstead/sync';
import { atDepth, createScratchDatabase, type ScratchDatabase } from '@chainstead/testkit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nftCollectionOwners } from './collection-owners.ts';
import { nftTransfers } from './dataset.ts';
import {
  account,
  ERC721,
  ERC1155,
  histories,
  isSingle,
  LAZY,
  LIAR,
  linesOf,
  type Move,
} from './testing/example-moves.ts';
import { keptCollections, type MovedIn, summedCollections } from './testing/summed-collections.ts';

let scratch: ScratchDatabase;
let nextChain = 1_100_001;

beforeAll(async () => {
  scratch = await createScratchDatabase({ autovacuum: false });
  await scratch.database.query('CREATE TABLE there (LIKE nft_transfers)');
  await scratch.database.query('CREATE INDEX ON there (collection_key, token_id_key(token_id))');
});
afterAll(() => scratch.drop());

/** Up to which block each collection is counted; none: it is not kept. */
type Kept = ReadonlyMap<Address, number>;
const ALL: Kept = new Map([ERC721, ERC1155, LIAR, LAZY].map((one) => [one, 1_000_000] as const));

function relationOf(kept: Kept): string {
  const rows = [...kept].map(([collection, to]) => `('\\x${collection.slice(2)}'::bytea, ${to})`);
  return `(SELECT * FROM (VALUES ${[...rows, '(NULL::bytea, 0)'].join(', ')}) AS kept(subject, built_to) WHERE subject IS NOT NULL)`;
}

let turns = 0;

/** Lets rows come or go, and runs the statements over a relation that holds them. */
async function derive(kind: 'added' | 'removed', lines: readonly string[], kept: Kept = ALL): Promise<void> {
  await scratch.database.transaction(async (transaction) => {
    await transaction.query('CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS');
    await transaction.copy('moved', nftTransfers.table.columns, lines);
    await transaction.query(
      kind === 'added'
        ? 'INSERT INTO there SELECT * FROM moved'
        : `DELETE FROM there WHERE (chain_id, block_number, log_index) IN (SELECT chain_id, block_number, log_index FROM moved)`,
    );
    // Every other time as where tables are distributed.
    await runDerived(transaction, turns++ % 2 === 1, (reading) =>
      kind === 'added'
        ? nftCollectionOwners.added('moved', relationOf(kept), reading)
        : nftCollectionOwners.removed('moved', relationOf(kept), 'there', reading),
    );
  });
}

const movedIn = (block: number, move: Move): MovedIn => ({ block, move, isSingle: isSingle(move) });

const someKept: fc.Arbitrary<Kept> = fc
  .array(fc.tuple(fc.constantFrom(ERC721, ERC1155, LIAR, LAZY, LAZY), fc.constantFrom(3, 1_000_000, 1_000_000)))
  .map((entries) => new Map(entries));

/** A history, of what of it is kept, and the steps by which its blocks come and go. */
const schedules = fc.tuple(histories, someKept).chain(([blocks, kept]) => {
  const some = fc.uniqueArray(fc.nat(blocks.length - 1), { minLength: 1, maxLength: blocks.length });
  const step = fc.record({ kind: fc.constantFrom('added' as const, 'added' as const, 'removed' as const), some });
  return fc.record({ blocks: fc.constant(blocks), kept: fc.constant(kept), steps: fc.array(step, { maxLength: 8 }) });
});

describe('who holds collections', () => {
  it(
    'is what the transfers that are there tell, in whatever order and portions they came and went',
    async () => {
      await fc.assert(
        fc.asyncProperty(schedules, async ({ blocks, kept, steps }) => {
          const chainId = nextChain++;
          const there = new Set<number>();
          const everything = { kind: 'added' as const, some: blocks.map((_, number) => number) };
          for (const { kind, some } of [...steps, everything]) {
            const changing = some.filter((block) => there.has(block) === (kind === 'removed'));
            await derive(
              kind,
              changing.flatMap((block) => linesOf(chainId, block, blocks[block] ?? [])),
              kept,
            );
            for (const block of changing)
              if (kind === 'added') there.add(block);
              else there.delete(block);
            const counted = blocks.flatMap((moves, block) =>
              there.has(block)
                ? moves.filter(({ token }) => block <= (kept.get(token) ?? -1)).map((move) => movedIn(block, move))
                : [],
            );
            expect(await keptCollections(scratch.database, chainId)).toEqual(summedCollections(counted));
          }
          await derive(
            'removed',
            blocks.flatMap((moves, block) => linesOf(chainId, block, moves)),
            kept,
          );
          expect(await keptCollections(scratch.database, chainId)).toEqual([]);
        }),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(120_000),
  );

  it('of an honest contract has one owner for each ERC-721 once its history is complete', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (blocks) => {
        const chainId = nextChain++;
        for (const [block, moves] of [...blocks.entries()].toReversed())
          await derive('added', linesOf(chainId, block, moves));
        const odd = await scratch.database.query(
          `SELECT FROM nft_collection_ids WHERE chain_id = $1 AND token_address = ANY ($2::bytea[])
             AND (holders > 1 OR holders <> supply OR holders <> is_held::int)`,
          [chainId, [ERC721, LAZY].map((one) => Buffer.from(one.slice(2), 'hex'))],
        );
        expect(odd).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('of a single thing is its newest receiver, in whatever order its transfers come, whatever is missing before and between', async () => {
    const chainId = nextChain++;
    const move = (from: number, to: number): Move => ({
      token: ERC721,
      id: 1n,
      from: account(from),
      to: account(to),
      amount: 1n,
    });
    const receiver = async () => {
      const [row] = await scratch.database.query<{ owner: string; is_held: boolean }>(
        `SELECT '0x' || encode(receiver, 'hex') AS owner, is_held FROM nft_collection_ids WHERE chain_id = $1`,
        [chainId],
      );
      return row?.owner;
    };
    await derive('added', linesOf(chainId, 10, [move(3, 4)]));
    await derive('added', linesOf(chainId, 5, [move(1, 2)]));
    expect(await receiver()).toBe(account(4));
    await derive('added', linesOf(chainId, 12, [move(4, 3)]));
    expect(await receiver()).toBe(account(3));
    await derive('removed', linesOf(chainId, 12, [move(4, 3)]));
    await derive('removed', linesOf(chainId, 10, [move(3, 4)]));
    expect(await receiver()).toBe(account(2));
  });

  it('of what was somebody’s before its first event is whose it went back to, and who sends it to himself', async () => {
    const chainId = nextChain++;
    const move = (id: bigint, from: number, to: number): Move => ({
      token: LAZY,
      id,
      from: account(from),
      to: account(to),
      amount: 1n,
    });
    const away = linesOf(chainId, 3, [move(1n, 0, 2), move(2n, 0, 0)]);
    const back = linesOf(chainId, 5, [move(1n, 2, 0)]);
    const lines = async (kind: string) =>
      (await keptCollections(scratch.database, chainId)).filter((line) => line.startsWith(kind));
    for (const portion of [back, away]) await derive('added', portion);
    expect(await lines('counts')).toEqual([`counts ${LAZY} 3 2 1`]);
    expect(await lines('owner')).toEqual([`owner ${LAZY} ${account(0)} 2`]);
    // When the second one came to its owner nobody knows.
    expect(await lines('amount')).toEqual([
      `amount ${LAZY} 1 ${account(0)} 1 5 false`,
      `amount ${LAZY} 1 ${account(2)} 0 5 false`,
      `amount ${LAZY} 2 ${account(0)} 1 -1 false`,
    ]);
    await derive('removed', back);
    expect(await lines('owner')).toEqual([`owner ${LAZY} ${account(0)} 1`, `owner ${LAZY} ${account(2)} 1`]);
    await derive('removed', away);
    expect(await keptCollections(scratch.database, chainId)).toEqual([]);
  });

  it('of what a contract lies about goes beyond 256 bits, and below zero is nobody’s', async () => {
    const chainId = nextChain++;
    const much = 2n ** 256n - 1n;
    const lie: Move = { token: LIAR, id: much, from: account(1), to: account(2), amount: much };
    await derive('added', linesOf(chainId, 1, [lie, lie]));
    const lines = await keptCollections(scratch.database, chainId);
    expect(lines).toContain(`amount ${LIAR} ${much} ${account(1)} ${-2n * much} 1 true`);
    expect(lines).toContain(`owner ${LIAR} ${account(2)} 1`);
    expect(lines).toContain(`counts ${LIAR} 2 1 1`);
  });

  it('counts every row as a transfer, and takes from no row an owner who is none', async () => {
    const chainId = nextChain++;
    const [token, id, amount] = [ERC1155, 7n, 5n];
    const moves: Move[] = [
      { token, id, from: account(1), to: account(1), amount },
      { token, id, from: account(1), to: account(2), amount: 0n },
      { token, id, from: ZERO_ADDRESS, to: ZERO_ADDRESS, amount },
      { token, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n, last: 60_000n },
    ];
    await derive('added', linesOf(chainId, 1, moves));
    expect(await keptCollections(scratch.database, chainId)).toEqual([`counts ${token} 4 0 0`]);
    await derive('removed', linesOf(chainId, 1, moves));
    expect(await keptCollections(scratch.database, chainId)).toEqual([]);
  });

  it('is kept apart by chain', async () => {
    const [one, other] = [nextChain++, nextChain++];
    const mint: Move = { token: ERC721, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n };
    await derive('added', [...linesOf(one, 1, [mint]), ...linesOf(other, 1, [{ ...mint, to: account(2) }])]);
    await derive('removed', linesOf(one, 1, [mint]));
    expect(await keptCollections(scratch.database, one)).toEqual([]);
    expect(await keptCollections(scratch.database, other)).toEqual(
      summedCollections([movedIn(1, { ...mint, to: account(2) })]),
    );
  });
});

describe('token_hash', () => {
  it.each([
    ['0xbc4ca0eda7647a8ab7c2061c2e118a18a936f13d', 1234n, 'ab96a59f7d41a8648adee2f63d1386ce'],
    ['0xb47e3cd837ddf8e4c57f05d70ab865de6e193bbb', 9082n, 'fffdaced3ddfb220d9124289a518bb97'],
    ['0x879279a63dfb64ff0ae5342117a4ced69ba0880b', 3n, '5f502723dd3b60413ee565fba661f960'],
  ])('of %s %i is the hosted provider’s', async (address, id, hash) => {
    const chainId = nextChain++;
    const token = address as Address;
    const mint: Move = { token, id, from: ZERO_ADDRESS, to: account(1), amount: 1n };
    await derive('added', linesOf(chainId, 1, [mint]), new Map([[token, 1_000_000]]));
    expect(await keptCollections(scratch.database, chainId)).toContain(
      `id ${token} ${id} ${hash} 1 1 1 ${account(1)} true`,
    );
  });
});

describe('many rows of one collection', () => {
  const mint = (id: number): Move => ({
    token: ERC721,
    id: BigInt(id),
    from: ZERO_ADDRESS,
    to: account(id % 100),
    amount: 1n,
  });

  it('a mint of 20,000 ids comes and goes', async () => {
    const chainId = nextChain++;
    const lines = linesOf(
      chainId,
      1,
      Array.from({ length: 20_000 }, (_, id) => mint(id)),
    );
    await derive('added', lines);
    const [counts] = await scratch.database.query(
      'SELECT transfers, ids, owners FROM nft_collection_counts WHERE chain_id = $1',
      [chainId],
    );
    expect(counts).toEqual({ transfers: 20_000, ids: 20_000, owners: 100 });
    await derive('removed', lines);
    expect(await keptCollections(scratch.database, chainId)).toEqual([]);
  });

  it('finds each amount, id and owner by its whole key, with no statistics', async () => {
    const chainId = nextChain++;
    const block = (first: number) =>
      linesOf(
        chainId,
        first,
        Array.from({ length: 1_000 }, (_, index) => mint(first + index)),
      );
    for (let first = 1; first < 5_000; first += 1_000) await derive('added', block(first));
    const plans = await scratch.database.transaction(async (transaction) => {
      await transaction.query('CREATE TEMP TABLE IF NOT EXISTS moved (LIKE nft_transfers) ON COMMIT DELETE ROWS');
      await transaction.copy('moved', nftTransfers.table.columns, block(20_001));
      const [statement = ''] = nftCollectionOwners.added('moved', relationOf(ALL));
      return transaction.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${statement}`);
    });
    const lines = plans.map((row) => row['QUERY PLAN'].trim());
    const lookups = lines.flatMap((line, index) => {
      const table = /Index .*Scan using \w+ on nft_collection_(balances|ids|owners) /.exec(line)?.[1];
      return table === undefined ? [] : [{ table, condition: lines[index + 1] ?? '' }];
    });
    expect(new Set(lookups.map(({ table }) => table))).toContain('balances');
    for (const { table, condition } of lookups) {
      expect(condition).toContain('Index Cond');
      for (const column of ['token_address', 'chain_id', ...(KEYS[table] ?? [])])
        expect(condition).toContain(`(${column} =`);
    }
  });
});

const KEYS: Readonly<Record<string, readonly string[]>> = {
  balances: ['token_id', 'owner'],
  ids: ['token_id'],
  owners: ['owner'],
};
