import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { rawSql, type Sql, sql } from '@chainstead/db';
import { atDepth } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nftCollectionOwners } from './collection-owners.ts';
import { account, ERC721, ERC1155, isSingle, LAZY, LIAR, linesOf, type Move } from './testing/example-moves.ts';
import { movedRowsOf, schedules } from './testing/moved-rows.ts';
import { type MovedIn, storedCollections, summedCollections } from './testing/summed-collections.ts';

const rows = movedRowsOf(nftCollectionOwners);
const { scratch } = rows;
let nextChain = 1_100_001;

/** The block up to which each requested collection is counted. */
type BuiltTo = ReadonlyMap<Address, number>;
const ALL: BuiltTo = new Map([ERC721, ERC1155, LIAR, LAZY].map((one) => [one, 1_000_000] as const));

function relationOf(builtTo: BuiltTo): Sql {
  const lines = [...builtTo].map(([collection, to]) => `('\\x${collection.slice(2)}'::bytea, ${to})`);
  const values = [...lines, '(NULL::bytea, 0)'].join(', ');
  return rawSql(`(SELECT * FROM (VALUES ${values}) AS requested(subject, built_to) WHERE subject IS NOT NULL)`);
}

const derive = (kind: 'added' | 'removed', lines: readonly string[]) => rows.derive(kind, lines, relationOf(ALL));
const movedIn = (block: number, move: Move): MovedIn => ({ block, move, isSingle: isSingle(move) });

const someBuiltTo: fc.Arbitrary<BuiltTo> = fc
  .array(fc.tuple(fc.constantFrom(ERC721, ERC1155, LIAR, LAZY, LAZY), fc.constantFrom(3, 1_000_000, 1_000_000)))
  .map((entries) => new Map(entries));

describe('who holds collections', () => {
  it(
    'is what the transfers that are there tell, in whatever order and portions they came and went',
    async () => {
      await fc.assert(
        fc.asyncProperty(schedules, someBuiltTo, async (schedule, builtTo) => {
          const chainId = nextChain++;
          await rows.take(chainId, schedule, relationOf(builtTo), async (isThere) => {
            const counted = schedule.blocks.flatMap((moves, block) =>
              isThere(block)
                ? moves
                    .filter(({ token }) => block <= (builtTo.get(token) ?? -1))
                    .map((move) => movedIn(block, move))
                : [],
            );
            expect(await storedCollections(scratch.database, chainId)).toEqual(summedCollections(counted));
          });
        }),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(120_000),
  );

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
    expect(await storedCollections(scratch.database, chainId)).toEqual([`counts ${token} 4 0 0`]);
    await derive('removed', linesOf(chainId, 1, moves));
    expect(await storedCollections(scratch.database, chainId)).toEqual([]);
  });

  it('is kept apart by chain', async () => {
    const [one, other] = [nextChain++, nextChain++];
    const mint: Move = { token: ERC721, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n };
    await derive('added', [...linesOf(one, 1, [mint]), ...linesOf(other, 1, [{ ...mint, to: account(2) }])]);
    await derive('removed', linesOf(one, 1, [mint]));
    expect(await storedCollections(scratch.database, one)).toEqual([]);
    expect(await storedCollections(scratch.database, other)).toEqual(
      summedCollections([movedIn(1, { ...mint, to: account(2) })]),
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

  it('a mint of many ids comes and goes', async () => {
    const chainId = nextChain++;
    const ids = atDepth(20_000);
    const lines = linesOf(
      chainId,
      1,
      Array.from({ length: ids }, (_, id) => mint(id)),
    );
    await derive('added', lines);
    const [counts] = await scratch.database.query(
      sql`SELECT transfers, ids, owners FROM nft_collection_counts WHERE chain_id = ${chainId}`,
    );
    expect(counts).toEqual({ transfers: ids, ids, owners: 100 });
    await derive('removed', lines);
    expect(await storedCollections(scratch.database, chainId)).toEqual([]);
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
    const lines = await rows.explainAdding(block(20_001), relationOf(ALL));
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
