import { createChainRegistry } from '@chainstead/chains';
import { seedMetadata } from '@chainstead/nft/testing';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readRelated } from './related-to-history.ts';

const scratch = scratchOfFile();
const chain = createChainRegistry().get('eth');
const APES = addressOf(0xa9e5);
const TOKEN = addressOf(0x70c);
const NONE = { tokens: new Set<never>(), collections: new Set<never>(), accounts: new Set<never>(), nfts: [] };

test('tokens and accounts of a page are read with the metadata of its NFTs; unknown ones are empty', async () => {
  await seedMetadata(scratch.database, chain, { address: APES, id: '1' }, { text: '{"name":"Ape 1"}' });
  const related = await readRelated(scratch.database, chain, {
    ...NONE,
    tokens: new Set([TOKEN]),
    collections: new Set([APES]),
    nfts: [
      { token: APES, tokenId: '1' },
      { token: APES, tokenId: '2' },
    ],
  });
  expect(related.metadataOf(APES, '1')?.name).toBe('Ape 1');
  expect(related.metadataOf(APES, '2')?.name).toBeNull();
  expect(related.metadataOf(APES, '3')).toBeNull();
  expect(related.tokenOf(TOKEN)).toMatchObject({ name: null, decimals: null, isNft: false });
  expect(related.collectionOf(APES)).toMatchObject({ contractType: null, possibleSpam: false });
});
