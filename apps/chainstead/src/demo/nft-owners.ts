import type { Address } from '@chainstead/core';
import { z } from 'zod';
import { type DemoApi, readAllPages } from './demo-api.ts';
import type { Holding } from './nft-collections.ts';

/** How many of an NFT somebody has, as text. */
export function holdingText({ token, tokenId, owner, amount }: Readonly<Record<keyof Holding, string>>): string {
  return `${token} ${tokenId} of ${owner}: ${amount}`;
}

const servedHolding = z.object({
  token_address: z.string(),
  token_id: z.string(),
  owner_of: z.string(),
  amount: z.string(),
});

/** Owners of collections, with what they own, as the API serves them. @throws DemoApiError */
export function readServedNftOwners(api: DemoApi, collections: readonly Address[]): Promise<string[]> {
  return readLists(
    api,
    collections.map((collection) => `nft/${collection}/owners`),
  );
}

/** What wallets hold of all collections, as the API serves it. @throws DemoApiError */
export function readServedWalletNfts(api: DemoApi, wallets: readonly Address[]): Promise<string[]> {
  return readLists(
    api,
    wallets.map((wallet) => `${wallet}/nft`),
  );
}

async function readLists(api: DemoApi, paths: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  for (const path of paths) {
    const rows = await readAllPages(api, path, servedHolding);
    texts.push(
      ...rows.map(({ token_address: token, token_id: tokenId, owner_of: owner, amount }) =>
        holdingText({ token, tokenId, owner, amount }),
      ),
    );
  }
  return texts;
}
