/** Areas of the product that mutants are made in, each by the git pathspecs of its files. */
export const AREAS = {
  sync: ['packages/engine/sync/src/*.ts'],
  proof: ['packages/foundation/proof/src/*.ts'],
  decoders: [
    'packages/foundation/events/src/decoding/*.ts',
    'packages/foundation/events/src/token-events/*.ts',
    'packages/assets/nft/src/trades/*.ts',
    'packages/assets/transactions/src/evidence/*.ts',
  ],
  paging: [
    'packages/engine/pages/src/*.ts',
    'packages/foundation/core/src/cursors/cursor.ts',
    'packages/engine/http/src/parameters/paging.ts',
    'packages/assets/transactions/src/history/page/*.ts',
    'packages/assets/erc20/src/transfers/*.ts',
    'packages/assets/nft/src/transfer-lists/*.ts',
  ],
  streams: ['packages/products/streams/src/matching/*.ts', 'packages/products/streams/src/payload/*.ts'],
  delivery: ['packages/products/streams/src/delivery/*.ts'],
  gateway: ['packages/products/gateway/src/*.ts'],
  balances: [
    'packages/assets/erc20/src/anchored-sums/*.ts',
    'packages/assets/erc20/src/balances/*.ts',
    'packages/assets/erc20/src/balance-proofs/*.ts',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Area = keyof typeof AREAS;

export const AREA_NAMES = Object.keys(AREAS).filter(isArea);

export function isArea(text: string): text is Area {
  return text in AREAS;
}

/** Whether a file belongs to the product: no test, no test rig, no declaration of tables or exports. */
export function isMutable(path: string): boolean {
  return !/\.test\.ts$|\/testing\/|\/(index|schema)\.ts$/.test(path);
}
