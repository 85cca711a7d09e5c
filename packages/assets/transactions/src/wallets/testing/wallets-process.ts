/** Roles in a separate process, for tests that kill it. Its only argument is {@link WalletsProcessOptions}. */
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { stageChain, stagePool, startRoles } from './wallet-stage.ts';

export interface WalletsProcessOptions {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly nodeUrl: string;
}

const { databaseUrl, chainId, nodeUrl }: WalletsProcessOptions = JSON.parse(process.argv[2] ?? '');
const database = openDatabase({
  url: databaseUrl,
  applicationName: 'wallets',
  poolSize: 8,
  logger: silentLogger(),
});
const chain = stageChain(chainId);
const pool = await stagePool(chain, [nodeUrl]);
// The work of a killed process is taken over soon.
await startRoles({ database, chain, pool, sliceMs: 300, lockMs: 2_000 });
process.stdout.write('working\n');
