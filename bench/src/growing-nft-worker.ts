import { parentPort } from 'node:worker_threads';
import { BenchmarkError } from './benchmark-error.ts';
import { createNftBlocks } from './growing-nft-blocks.ts';

/** Runs in a thread: told a block, it makes those up to it and posts them. */
const port = parentPort;
if (port === null) throw new BenchmarkError('growing-nft-worker.ts runs in a thread of growing-nft-chain.ts only');
const nextBlock = createNftBlocks();
let made = 0;
port.on('message', (upTo: number) => {
  const blocks = Array.from({ length: Math.max(0, upTo - made) }, (_, index) => nextBlock(made + index + 1));
  made += blocks.length;
  port.postMessage(blocks);
});
