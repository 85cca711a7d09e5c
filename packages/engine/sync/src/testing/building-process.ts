/**
 * Builds a chain's projections in a child process, block by block, and reports each piece. Arguments: database URL,
 * chain id.
 */
import { createChainRegistry } from '@chainstead/chains';
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import type { Dataset } from '../dataset/dataset.ts';
import { buildProjectionPiece } from '../projections/build-whole.ts';
import { marks } from './marks-dataset.ts';

const [url = '', id = ''] = process.argv.slice(2);
const chain = createChainRegistry({
  additional: [{ key: `marked-${id}`, id: Number(id), headerHash: true, proofPolicy: 'strict' }],
}).get(Number(id));
const database = openDatabase({ url, applicationName: 'building', poolSize: 1, logger: silentLogger() });
for (;;) {
  const piece = await buildProjectionPiece(database, chain, [marks as Dataset], { blocks: 1, rows: 1, pages: 5 });
  process.stdout.write(`${piece === null ? 'built' : 'piece'}\n`);
  if (piece === null) break;
}
await database.close();
