/** ERC-1155 of a wallet whose transfers are all indexed but not all counted: a partial count is not an amount. */
import { sql } from '@chainstead/db';
import { addressOf, storeToken } from '@chainstead/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { holdingId } from '../token-state/held-readers.ts';
import {
  eth,
  openWalletNftsStage,
  WALLET,
  type WalletNfts,
  type WalletNftsStage,
} from './testing/wallet-nfts-stage.ts';

const SWORDS = addressOf(0x5);
const holding = (tokenId: string): string => holdingId({ address: SWORDS, tokenId, owner: WALLET });
/** The contract's results. */
const SAID = new Map([
  [holding('1'), '12'],
  [holding('2'), '3'],
]);

let stage: WalletNftsStage;
beforeAll(async () => {
  const heldNow = { ownersOf: async () => new Map(), amountsOf: async () => SAID };
  stage = await openWalletNftsStage({ heldNow });
});
afterAll(() => stage.close());

const linesOf = ({ result, indexed }: WalletNfts) => ({
  lines: result.map(({ token_id, amount }) => `${token_id} ×${amount}`),
  complete: indexed.complete,
});

test('has what its contract says of it', async () => {
  const { database } = stage.scratch;
  await stage.cover(0, 100);
  await storeToken(database, eth.id, SWORDS, { seen_as: 4 });
  await stage.hold(
    { token: SWORDS, id: '1', block: 9, amount: '2' },
    { token: SWORDS, id: '2', block: 8, amount: '0' },
  );
  expect(linesOf(await stage.get())).toEqual({ lines: ['1 ×2'], complete: true });
  // Counting can't continue without the index.
  await database.query(sql`UPDATE subject_projections SET built_to = 9`);
  await database.query(sql`ALTER INDEX nft_transfers_by_sender RENAME TO not_there`);
  expect(linesOf(await stage.get())).toEqual({ lines: ['1 ×12', '2 ×3'], complete: false });
});
