import { addressBytes, sql } from '@chainstead/db';
import { addressOf, atDepth, exampleChain } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cover, seedWallet } from './testing/seeded-wallet.ts';
import { getWalletNfts, placeAfter, type WalletNftsPage, type WalletNftsPlace } from './wallet-nfts-statement.ts';

const TOKENS = 12;
const CONTRACT = addressOf(0xca75);
const DEPTH = 4;
const WALLET = addressOf(0xa11ce);

const scratch = scratchOfFile();

/** The tokens that a block changes; one in six of them is sent away. */
const block = fc.uniqueArray(fc.record({ token: fc.nat(TOKENS - 1), held: fc.nat(5).map((kept) => kept > 0) }), {
  selector: ({ token }) => token,
  maxLength: 3,
});
type Block = readonly { readonly token: number; readonly held: boolean }[];
/** The number of newest blocks that are replaced. */
const step = fc.record({ removed: fc.nat(DEPTH), added: fc.array(block, { maxLength: 6 }) });

/** Holdings, with the block of their newest change. */
function stateOf(blocks: readonly Block[]): Map<number, number> {
  const state = new Map<number, number>();
  for (const [height, changes] of blocks.entries())
    for (const { token, held } of changes)
      if (held) state.set(token, height);
      else state.delete(token);
  return state;
}

test(
  'whatever a chain does between pages: no token twice, and none missing that did not change after the first',
  async () => {
    const chain = exampleChain({ reorgDepthMax: DEPTH });
    const store = async (blocks: readonly Block[]): Promise<Map<number, number>> => {
      const state = stateOf(blocks);
      await scratch.database.query(sql`DELETE FROM nft_wallet_tokens WHERE wallet = ${addressBytes(WALLET)}`);
      await cover(scratch.database, chain, 0, blocks.length - 1);
      await seedWallet(
        scratch.database,
        chain,
        WALLET,
        [...state].map(([token, height]) => ({ token: CONTRACT, id: String(token), block: height })),
      );
      return state;
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(block, { minLength: DEPTH + 1, maxLength: 20 }),
        fc.array(step, { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (first, steps, limit) => {
          const blocks: Block[] = [...first];
          const pin = blocks.length - 1;
          const shown: number[] = [];
          let former = stateOf(blocks);
          let always = new Set(Array.from({ length: TOKENS }, (_, token) => token));
          let after: WalletNftsPlace | null = null;
          // Only the newest blocks at the pin can be reorganized.
          const floor = Math.max(0, pin + 1 - DEPTH);
          for (let page = 0; ; page++) {
            const state = await store(blocks);
            const stays = (token: number): boolean => {
              const height = state.get(token);
              if (height === undefined || height > pin) return false;
              // Below reorganizable blocks a run goes by positions. A token that moved up has left its position.
              return after === null || after.block > after.run.settled || height <= (former.get(token) ?? 0);
            };
            always = new Set([...always].filter(stays));
            former = state;
            const found: WalletNftsPage = await getWalletNfts(scratch.database, chain, {
              wallet: WALLET,
              limit,
              after,
              excludeSpam: false,
              contracts: [],
            });
            shown.push(...found.tokens.map(({ tokenId }) => Number(tokenId)));
            after = placeAfter(chain, found, after);
            if (after === null) break;
            expect(after.upperBound).toBe(pin);
            const { removed, added } = steps[page] ?? { removed: 0, added: [] };
            // A chain never ends up lower than it was.
            const kept = Math.max(floor, blocks.length - removed);
            const lost = blocks.splice(kept).length;
            blocks.push(...added, ...Array.from({ length: Math.max(0, lost - added.length) }, (): Block => []));
          }
          expect(shown.toSorted((a, b) => a - b)).toEqual([...new Set(shown)].toSorted((a, b) => a - b));
          expect([...always].filter((token) => !shown.includes(token))).toEqual([]);
        },
      ),
      { numRuns: atDepth(30) },
    );
  },
  atDepth(120_000),
);
