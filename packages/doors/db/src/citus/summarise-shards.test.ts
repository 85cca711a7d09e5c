import { expect, it } from 'vitest';
import { type Shard, summariseShards } from './read-shards.ts';

const shard = (node: string, root: string, lowest: string | null, bytes: number, table = root): Shard => ({
  node,
  table,
  root,
  lowest,
  tuples: -1,
  pages: 0,
  heapBytes: 0,
  bytes,
});

it('adds partitions up that lie together, and tells how uneven the shards of a table are', () => {
  const { nodes, tables } = summariseShards([
    shard('one', 'transfers', '0', 300, 'transfers_1_0'),
    shard('one', 'transfers', '0', 300, 'transfers_1_50'),
    shard('two', 'transfers', '1000', 100, 'transfers_1_0'),
    shard('two', 'transfers', '1000', 100, 'transfers_1_50'),
    shard('one', 'holders', '0', 0),
    shard('two', 'holders', '1000', 0),
  ]);
  expect(tables).toEqual([
    { table: 'transfers', shards: 2, bytes: 800, skew: 1.5 },
    { table: 'holders', shards: 2, bytes: 0, skew: 1 },
  ]);
  expect(nodes).toEqual([
    { node: 'one', shards: 2, bytes: 600 },
    { node: 'two', shards: 2, bytes: 200 },
  ]);
});

it('counts copies of reference tables among the bytes of each node, and not as shards', () => {
  const { nodes, tables } = summariseShards([shard('one', 'tokens', null, 8), shard('two', 'tokens', null, 8)]);
  expect(tables).toEqual([]);
  expect(nodes).toEqual([
    { node: 'one', shards: 0, bytes: 8 },
    { node: 'two', shards: 0, bytes: 8 },
  ]);
});
