import { ZERO_ADDRESS } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { NFT_TRANSFER_KINDS } from '@chainstead/events/token-events';
import { atDepth } from '@chainstead/testkit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { account, ERC721, ERC1155, linesOf, type Move, reportedBy } from './testing/example-moves.ts';
import { storedHoldings } from './testing/keep-wallets.ts';
import { movedRowsOf, schedules } from './testing/moved-rows.ts';
import { nftWalletTokens } from './wallet-tokens.ts';

const rows = movedRowsOf(nftWalletTokens);
const { scratch } = rows;
let nextChain = 1_000_001;

/** Every account, in any block. */
const EVERYBODY = sql`(SELECT to_address AS subject, 1000000 AS built_to FROM moved UNION SELECT from_address, 1000000 FROM moved)`;
const derive = (kind: 'added' | 'removed', lines: readonly string[]) => rows.derive(kind, lines, EVERYBODY);

/** Tokens whose newest change is not the block of their newest remaining move; moves to oneself change nothing. */
const wrongBlocks = (chainId: number): Promise<object[]> =>
  scratch.database.query(
    sql`SELECT * FROM (
       SELECT account AS wallet, token_address, token_id, max(CASE WHEN from_address = to_address THEN -1 ELSE block_number END) AS last_block FROM (
         SELECT to_address AS account, * FROM there UNION ALL SELECT from_address, * FROM there) AS sides
       WHERE chain_id = ${chainId} AND (from_address <> to_address OR kind = ${rawSql(NFT_TRANSFER_KINDS.erc721)}) AND amount <> 0 AND last_token_id IS NULL AND account <> decode(repeat('00', 20), 'hex')
       GROUP BY 1, 2, 3) AS truth
     FULL JOIN (SELECT wallet, token_address, token_id, last_block FROM nft_wallet_tokens WHERE chain_id = ${chainId}) AS held
       USING (wallet, token_address, token_id, last_block)
     WHERE truth IS NULL OR held IS NULL`,
  );

describe('what wallets hold', () => {
  it(
    'are what the transfers that are there tell, in whatever order and portions they came and went',
    async () => {
      await fc.assert(
        fc.asyncProperty(schedules, async (schedule) => {
          const chainId = nextChain++;
          await rows.take(chainId, schedule, EVERYBODY, async (isThere) => {
            const present = schedule.blocks.filter((_, block) => isThere(block)).flat();
            expect(await storedHoldings(scratch.database, chainId)).toEqual(reportedBy(present));
            expect(await wrongBlocks(chainId)).toEqual([]);
          });
          expect(
            await scratch.database.query(sql`SELECT FROM nft_wallet_tokens WHERE chain_id = ${chainId}`),
          ).toEqual([]);
        }),
        { numRuns: atDepth(25) },
      );
    },
    atDepth(120_000),
  );

  it('take no row for what leaves nothing behind', async () => {
    const chainId = nextChain++;
    const [token, id, amount] = [ERC1155, 7n, 5n];
    await derive(
      'added',
      linesOf(chainId, 1, [
        { token, id, from: account(1), to: account(1), amount },
        { token, id, from: account(1), to: account(2), amount: 0n },
        { token, id, from: ZERO_ADDRESS, to: ZERO_ADDRESS, amount },
        { token, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n, last: 60_000n },
        { token, id, from: ZERO_ADDRESS, to: account(3), amount },
        { token, id, from: account(3), to: account(4), amount },
        { token, id, from: account(4), to: ZERO_ADDRESS, amount },
      ]),
    );
    expect(await storedHoldings(scratch.database, chainId)).toEqual([]);
  });

  it('are kept apart by chain', async () => {
    const [one, other] = [nextChain++, nextChain++];
    const mint: Move = { token: ERC721, id: 1n, from: ZERO_ADDRESS, to: account(1), amount: 1n };
    await derive('added', [...linesOf(one, 1, [mint]), ...linesOf(other, 1, [{ ...mint, to: account(2) }])]);
    await derive('removed', linesOf(one, 1, [mint]));
    expect(await storedHoldings(scratch.database, one)).toEqual([]);
    expect(await storedHoldings(scratch.database, other)).toEqual([
      `${account(2)} ${ERC721} 1 1`,
      `${account(2)} ${ERC721} holds 1`,
    ]);
  });
});

describe('many rows of one key', () => {
  it('a mint of many ids comes and goes', async () => {
    const chainId = nextChain++;
    const ids = atDepth(20_000);
    const mint = (id: number): Move => ({
      token: ERC721,
      id: BigInt(id),
      from: ZERO_ADDRESS,
      to: account(1),
      amount: 1n,
    });
    const lines = linesOf(
      chainId,
      1,
      Array.from({ length: ids }, (_, id) => mint(id)),
    );
    await derive('added', lines);
    const [holding] = await scratch.database.query(
      sql`SELECT ids_held FROM nft_wallet_collections WHERE chain_id = ${chainId}`,
    );
    expect(holding).toEqual({ idsHeld: ids });
    await derive('removed', lines);
    expect(await storedHoldings(scratch.database, chainId)).toEqual([]);
  });

  it('finds each balance by its whole key, however many owners an id has and with no statistics', async () => {
    const chainId = nextChain++;
    const drop = (to: number): Move => ({
      token: ERC1155,
      id: 1n,
      from: account(0),
      to: account(to),
      amount: 1n,
    });
    const block = (first: number) =>
      linesOf(
        chainId,
        first,
        Array.from({ length: 1_000 }, (_, index) => drop(first + index)),
      );
    for (let first = 1; first < 5_000; first += 1_000) await derive('added', block(first));
    const lines = await rows.explainAdding(block(20_001), EVERYBODY);
    const lookups = lines.flatMap((line, index) =>
      /Index .*Scan using nft_wallet_tokens\w+ on nft_wallet_tokens/.test(line) ? [lines[index + 1] ?? ''] : [],
    );
    expect(lookups).not.toEqual([]);
    for (const lookup of lookups) {
      expect(lookup).toContain('Index Cond');
      for (const column of ['wallet', 'chain_id', 'token_address', 'token_id'])
        expect(lookup).toContain(`(${column} =`);
    }
    const [giver] = await scratch.database.query<{ amount: string }>(
      sql`SELECT amount::text FROM nft_wallet_tokens WHERE chain_id = ${chainId} AND wallet = ${Buffer.from(account(0).slice(2), 'hex')}`,
    );
    expect(giver?.amount).toBe('-5000');
  });
});
