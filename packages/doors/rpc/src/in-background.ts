import type { RequestOptions, UpstreamPool } from './upstream-pool.ts';

export function inBackground(pool: UpstreamPool): UpstreamPool {
  const background = <Options extends RequestOptions>(options?: Options) => ({ ...options, background: true });
  return {
    ...pool,
    getBlock: (at, options) => pool.getBlock(at, background(options)),
    getReceipts: (block, options) => pool.getReceipts(block, background(options)),
    getWholeBlock: (at, options) => pool.getWholeBlock(at, background(options)),
  };
}
