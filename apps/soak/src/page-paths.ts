import { createSeededRandom } from '@chainstead/testkit';
import type { WorldReport } from './world.ts';

type Pages = Pick<WorldReport, 'wallets' | 'collections'>;

const API = '/api/v2.2';
const ofWallet = [
  (wallet: string): string => `${API}/${wallet}/erc20/transfers?chain=eth&limit=25`,
  (wallet: string): string => `${API}/${wallet}/nft/collections?chain=eth&limit=25`,
];
const ofCollection = [
  (collection: string): string => `${API}/nft/${collection}/trades?chain=eth&limit=25`,
  (collection: string): string => `${API}/nft/${collection}/price?chain=eth`,
];

/** Paths of pages drawn anew each time, each kind as often as the others. */
export function randomPath({ wallets, collections }: Pages, seed: number): () => string {
  const random = createSeededRandom(`pages/${seed}`);
  return () => {
    const [wallet, collection] = [random.pick(wallets), random.pick(collections)];
    return random.pick([...ofWallet.map((path) => path(wallet)), ...ofCollection.map((path) => path(collection))]);
  };
}

/** Each path that {@link randomPath} can give, once. */
export function everyPath({ wallets, collections }: Pages): string[] {
  return [...ofWallet.flatMap((path) => wallets.map(path)), ...ofCollection.flatMap((path) => collections.map(path))];
}
