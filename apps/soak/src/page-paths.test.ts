import { describe, expect, it } from 'vitest';
import { everyPath, randomPath } from './page-paths.ts';

const pages = { wallets: ['0xa1', '0xa2', '0xa3'], collections: ['0xc1', '0xc2'] };

describe('everyPath', () => {
  it('has each path that is drawn later, once', () => {
    const every = everyPath(pages);
    const draw = randomPath(pages, 1);
    const drawn = new Set(Array.from({ length: 1_000 }, draw));
    expect(every).toHaveLength(new Set(every).size);
    expect([...drawn].sort()).toEqual([...every].sort());
  });
});
